#include "documents/keys.hpp"

namespace muster::documents::table {

std::vector<Key> HeadKeys(std::string_view kind, Form name, std::string_view name_help) {
  return {{"apiVersion", Choice({"muster/v1"}), "Always `muster/v1`.", true},
          {"kind", Choice({kind}), "What the document is.", true},
          {"name", Text(name), name_help, true}};
}

void Append(std::vector<Key>& keys, std::vector<Key> more) {
  for (auto& key : more) keys.push_back(std::move(key));
}

}  // namespace muster::documents::table
