#include <algorithm>
#include <array>
#include <cctype>

#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

void PutJson(const json::value& value, std::size_t indent, std::string& out) {
  const std::string inner(indent + 2, ' ');
  const std::string outer(indent, ' ');
  const bool object = value.is_object() && !value.get_object().empty();
  const bool array = value.is_array() && !value.get_array().empty();
  if (!object && !array) {
    out += json::serialize(value);
    return;
  }
  std::string_view separator = "\n";
  out += object ? '{' : '[';
  if (object) {
    for (const auto& [key, field] : value.get_object()) {
      out += fmt::format("{}{}{}: ", separator, inner, json::serialize(json::value(key)));
      PutJson(field, indent + 2, out);
      separator = ",\n";
    }
  } else {
    for (const auto& item : value.get_array()) {
      out += fmt::format("{}{}", separator, inner);
      PutJson(item, indent + 2, out);
      separator = ",\n";
    }
  }
  out += "\n" + outer + (object ? '}' : ']');
}

std::string YamlKey(std::string_view key) {
  constexpr std::array<std::string_view, 9> kWords{"true", "false", "null", "yes", "no",
                                                   "on",   "off",   "y",    "n"};
  std::string lower(key);
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool plain =
      !key.empty() && std::isalpha(static_cast<unsigned char>(key.front())) != 0 &&
      std::ranges::all_of(
          key, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; }) &&
      std::ranges::find(kWords, lower) == kWords.end();
  return plain ? std::string(key) : json::serialize(json::value(key));
}

// Scalars as in JSON, which YAML reads the same way; so no word is ever taken for a truth value.
void PutYaml(const json::value& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (value.is_object() && !value.get_object().empty()) {
    bool first = true;
    for (const auto& [key, field] : value.get_object()) {
      const bool nested = (field.is_object() && !field.get_object().empty()) ||
                          (field.is_array() && !field.get_array().empty());
      out += fmt::format("{}{}:{}", first ? "" : margin, YamlKey(key),
                         nested ? "\n" + margin + "  " : " ");
      PutYaml(field, indent + 2, out);
      first = false;
    }
    return;
  }
  if (value.is_array() && !value.get_array().empty()) {
    bool first = true;
    for (const auto& item : value.get_array()) {
      out += first ? "- " : margin + "- ";
      PutYaml(item, indent + 2, out);
      first = false;
    }
    return;
  }
  out += json::serialize(value) + "\n";
}

// Of a UTF-8 character of two or three bytes, as all that are replaced have.
unsigned CodePoint(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1F : 0x0F);
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

// The items of an answer that is one list, with at most numbers beside it; null for any other.
const json::array* ItemsOf(const json::value& value) {
  if (value.is_array()) return &value.get_array();
  const auto* object = value.if_object();
  if (object == nullptr) return nullptr;
  const json::array* items = nullptr;
  for (const auto& [key, field] : *object) {
    if (field.is_number() || field.is_null()) continue;
    if (!field.is_array() || items != nullptr) return nullptr;
    items = &field.get_array();
  }
  return items;
}

std::string JsonLines(const json::value& value) {
  const auto* items = ItemsOf(value);
  if (items == nullptr) return JsonLine(value);
  std::string out;
  for (const auto& item : *items) out += JsonLine(item);
  return out;
}

// JSON escapes controls below U+0020 itself. The others can only stand in strings, so that an
// escape may take their place anywhere in a document.
std::string WithEscapes(std::string_view document) {
  std::string out;
  while (!document.empty()) {
    const auto c = static_cast<unsigned char>(document.front());
    const auto piece = c < 0x80 ? std::nullopt : FirstVisible(document);
    const auto length = piece ? piece->length : 1;
    const auto character = document.substr(0, length);
    if (c == 0x7F)
      out += "\\u007f";
    else if (piece && piece->text != character && length > 1)
      out += fmt::format("\\u{:04x}", CodePoint(character));
    else
      out += character;
    document.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string Document(const json::value& value, Format format) {
  if (format == Format::kJsonl) return JsonLines(value);
  std::string out;
  if (format == Format::kYaml) {
    PutYaml(value, 0, out);
    return WithEscapes(out);
  }
  PutJson(value, 0, out);
  return WithEscapes(out) + "\n";
}

std::string JsonLine(const json::value& value) {
  return WithEscapes(json::serialize(value)) + "\n";
}

const json::value& FieldOf(const json::value& value, std::string_view field) {
  static const json::value kNothing;
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(field);
  return found == nullptr ? kNothing : *found;
}

std::string TextOf(const json::value& value, std::string_view field) {
  const auto* text = FieldOf(value, field).if_string();
  return text == nullptr ? "" : std::string(*text);
}

std::string LineOf(const json::value& value, std::string_view field) {
  return VisibleLine(TextOf(value, field));
}

std::int64_t NumberOf(const json::value& value, std::string_view field) {
  boost::system::error_code problem;
  const auto number = FieldOf(value, field).to_number<std::int64_t>(problem);
  return problem ? 0 : number;
}

bool FlagOf(const json::value& value, std::string_view field) {
  const auto* flag = FieldOf(value, field).if_bool();
  return flag != nullptr && *flag;
}

const json::array& ListOf(const json::value& value, std::string_view field) {
  static const json::array kNothing;
  const auto* list = FieldOf(value, field).if_array();
  return list == nullptr ? kNothing : *list;
}

TaskCounts CountsOf(const json::value& counts) {
  TaskCounts out;
  for (std::size_t i = 0; i < kTaskStates; ++i) {
    const auto state = static_cast<TaskState>(i);
    out[state] = static_cast<std::uint32_t>(NumberOf(counts, Name(state)));
  }
  return out;
}

}  // namespace muster::cli
