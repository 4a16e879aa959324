#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "imports/rundeck_parts.hpp"

namespace muster::imports {

void JobNotes::Add(Carried carried, Position at, std::string sentence) {
  if (said_.size() > kMost || !said_.emplace(at, sentence).second) return;
  if (said_.size() <= kMost)
    list_.push_back({carried, at, std::move(sentence)});
  else
    list_.push_back(
        {Carried::kLost, at, "there is more to say of this job; look through all of it"});
}

const RundeckBook::Entry* RundeckBook::Find(const std::string& title) const {
  const auto found = by_title.find(title);
  return found == by_title.end() ? nullptr : &found->second;
}

std::string TextIn(const Node& map, std::string_view key) {
  const Node* node = map.Find(key);
  return node != nullptr && node->IsText() ? node->text : "";
}

bool FlagIn(const Node& map, std::string_view key, bool fallback) {
  auto text = std::string(Trim(TextIn(map, key)));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text.empty() ? fallback : text == "true" || text == "yes" || text == "on";
}

bool LostUnlessTexts(const Node& map, std::span<const std::string_view> keys, std::string_view what,
                     JobNotes& notes) {
  bool good = true;
  for (const auto& key : keys) {
    const Node* value = map.Find(key);
    if (value == nullptr || value->IsText() || value->kind == Node::Kind::kNothing) continue;
    notes.Lost(map.FindKey(key)->at, "{}: '{}' is not one text and was left out", what, key);
    good = false;
  }
  return good;
}

std::string Slug(std::string_view text, std::string_view more, char instead, std::size_t most) {
  std::string slug;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0 && letter < 0x80)
      slug += static_cast<char>(std::tolower(letter));
    else if (more.contains(c))
      slug += c;
    else if (!slug.empty() && slug.back() != instead)
      slug += instead;
  }
  slug.resize(std::min(slug.size(), most));
  while (!slug.empty() && !std::isalnum(static_cast<unsigned char>(slug.back()))) slug.pop_back();
  const auto first = std::ranges::find_if(
      slug, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  slug.erase(slug.begin(), first);
  return slug;
}

std::string TitleOf(std::string_view group, std::string_view name) {
  while (group.starts_with('/')) group.remove_prefix(1);
  while (group.ends_with('/')) group.remove_suffix(1);
  return group.empty() ? std::string(name) : fmt::format("{}/{}", group, name);
}

std::string JobNameOf(std::string_view title) {
  std::string name;
  for (const auto part : Split(title, '/')) {
    const auto slug = Slug(part, "_-", '-', 40);
    if (!slug.empty()) name += (name.empty() ? "" : ".") + slug;
  }
  name.resize(std::min<std::size_t>(name.size(), 90));
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name.empty() ? "job" : name;
}

}  // namespace muster::imports
