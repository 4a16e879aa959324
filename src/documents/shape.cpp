#include "documents/shape.hpp"

#include <algorithm>

#include "documents/problems.hpp"

namespace muster::documents {
namespace {

void Gather(const Type& type, std::vector<const Shape*>& shapes);

void Gather(const Shape& shape, std::vector<const Shape*>& shapes) {
  if (std::ranges::find(shapes, &shape) != shapes.end()) return;
  shapes.push_back(&shape);
  for (const auto& key : shape.keys) Gather(key.type, shapes);
}

void Gather(const Type& type, std::vector<const Shape*>& shapes) {
  if (type.map != nullptr) Gather(*type.map, shapes);
  if (type.item) Gather(*type.item, shapes);
  if (type.pairs) Gather(*type.pairs, shapes);
}

}  // namespace

const Key* Shape::Find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string_view> Shape::Names() const {
  std::vector<std::string_view> names;
  for (const auto& key : keys)
    if (key.refused.empty()) names.push_back(key.name);
  return names;
}

const std::vector<std::string_view>& ActionNames() {
  static const std::vector<std::string_view> names = {"script", "push",    "pull",     "reboot",
                                                      "stages", "approve", "wait",     "http",
                                                      "notify", "job",     "condition"};
  return names;
}

std::vector<const Shape*> AllShapes() {
  std::vector<const Shape*> shapes;
  for (const auto& row : Kinds()) Gather(row.shape(), shapes);
  return shapes;
}

std::string Describe(const Type& type) {
  std::vector<std::string> owned;
  if (type.value) {
    owned.push_back(type.value->form == Form::kChoice ? Either(type.value->choices)
                                                      : std::string(Describe(*type.value)));
  }
  if (type.item) {
    const bool same = type.value && type.item->value;
    owned.push_back(same ? "a list of such" : "a list");
  }
  if (type.map != nullptr) owned.emplace_back("a map (key: value)");
  if (type.pairs) owned.emplace_back("a map (name: value)");
  return Either({owned.begin(), owned.end()});
}

}  // namespace muster::documents
