#include "cli/documents/kind_words.hpp"

#include <string_view>

#include <fmt/format.h>

#include "documents/kinds.hpp"

namespace muster::cli {
namespace {

std::string Joined(std::string_view documents::KindRow::* word, std::string_view last) {
  const auto kinds = documents::Kinds();
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) text += i + 1 == kinds.size() ? fmt::format(" {} ", last) : ", ";
    text += kinds[i].*word;
  }
  return text;
}

}  // namespace

std::string SingleKinds() { return Joined(&documents::KindRow::name, "or"); }
std::string PluralKinds() { return Joined(&documents::KindRow::plural, "and"); }

std::string KindsHelp() {
  std::string text = "Kinds of documents:";
  for (const auto& row : documents::Kinds())
    text += fmt::format("\n  {:<9}{}", row.name, row.about);
  return text;
}

}  // namespace muster::cli
