#include "documents/fields.hpp"

#include "base/text.hpp"
#include "documents/values.hpp"

namespace muster::documents {
namespace {

const std::string* Find(const Node& map, std::string_view key) {
  const Node* value = map.Find(key);
  return value != nullptr && value->IsText() ? &value->text : nullptr;
}

}  // namespace

std::string TextOf(const Node& map, std::string_view key, std::string_view fallback) {
  const auto* text = Find(map, key);
  return text != nullptr ? *text : std::string(fallback);
}

Duration TimeOf(const Node& map, std::string_view key, Duration fallback) {
  const auto* text = Find(map, key);
  if (text == nullptr) return fallback;
  const auto duration = ParseDuration(*text);
  return duration ? *duration : fallback;
}

std::uint32_t NumberOf(const Node& map, std::string_view key, std::uint32_t fallback) {
  const auto* text = Find(map, key);
  const auto number = text != nullptr ? ParseInteger(*text) : std::nullopt;
  return number && *number >= 0 && *number <= UINT32_MAX ? static_cast<std::uint32_t>(*number)
                                                         : fallback;
}

std::uint64_t SizeOf(const Node& map, std::string_view key, std::uint64_t fallback) {
  const auto* text = Find(map, key);
  if (text == nullptr) return fallback;
  const auto size = ParseSize(*text);
  return size ? *size : fallback;
}

std::uint64_t RateOf(const Node& map, std::string_view key) {
  const auto* text = Find(map, key);
  if (text == nullptr) return 0;
  const auto rate = ParseRate(*text);
  return rate ? *rate : 0;
}

bool FlagOf(const Node& map, std::string_view key, bool fallback) {
  const auto* text = Find(map, key);
  return text != nullptr ? *text == "true" : fallback;
}

std::vector<const Node*> SeveralOf(const Node* value) {
  std::vector<const Node*> several;
  if (value == nullptr || value->kind == Node::Kind::kNothing) return several;
  if (!value->IsList()) return {value};
  for (const auto& item : value->items) several.push_back(&item);
  return several;
}

std::vector<std::string> TextsOf(const Node* value) {
  std::vector<std::string> texts;
  for (const Node* item : SeveralOf(value))
    if (item->IsText()) texts.push_back(item->text);
  return texts;
}

std::vector<std::pair<std::string, std::string>> PairsOf(const Node* map) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (map == nullptr || !map->IsMap()) return pairs;
  for (std::size_t i = 0; i < map->keys.size(); ++i)
    if (map->items[i].IsText()) pairs.emplace_back(map->keys[i].text, map->items[i].text);
  return pairs;
}

}  // namespace muster::documents
