#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "adapters/settings/settings.hpp"

namespace muster::settings {
namespace {

// Reads a whole file and remembers every mistake, so that a person corrects them in one go.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void Read(const YAML::Node& map, const Table& table, const std::string& prefix) {
    std::set<std::string> seen;
    for (const auto& item : map) {
      if (!item.first.IsScalar()) {
        Blame(item.first, "expected a name");
        continue;
      }
      const auto& name = item.first.Scalar();
      const auto setting = std::ranges::find(table, name, &Setting::name);
      if (setting == table.end()) {
        Blame(item.first, fmt::format("unknown key '{}{}'; known are {}", prefix, name,
                                      fmt::join(NamesOf(table), ", ")));
        continue;
      }
      if (!seen.insert(name).second)
        Blame(item.first, fmt::format("'{}{}' is given twice", prefix, name));
      Take(item.second, *setting, prefix + name);
    }
  }

  void Blame(const YAML::Mark& mark, const std::string& what) {
    if (!problems_.empty()) problems_ += '\n';
    problems_ += fmt::format("{}:{}:{}: {}", file_, mark.line + 1, mark.column + 1, what);
  }
  void Blame(const YAML::Node& node, const std::string& what) { Blame(node.Mark(), what); }

  Result<> Done() const {
    if (problems_.empty()) return {};
    return Fail(ErrorCode::kInvalid, "{}", problems_);
  }

 private:
  static std::vector<std::string> NamesOf(const Table& table) {
    std::vector<std::string> names;
    for (const auto& setting : table) names.push_back(setting.name);
    std::ranges::sort(names);
    return names;
  }

  void Take(const YAML::Node& value, const Setting& setting, const std::string& name) {
    // `key:` with nothing behind it keeps the default: a file may show what can be set.
    if (value.IsNull()) return;
    std::vector<std::string> words;
    switch (setting.shape) {
      case Shape::kSection:
        if (!value.IsMap())
          return Blame(value, fmt::format("'{}' is a section of 'key: value' lines", name));
        return Read(value, setting.inner, name + ".");
      case Shape::kValue:
        if (!value.IsScalar()) return Blame(value, fmt::format("'{}' takes a single value", name));
        words.push_back(value.Scalar());
        break;
      case Shape::kList:
        if (!TakeList(value, words))
          return Blame(value, fmt::format("'{}' takes a list: [a, b]", name));
        break;
      case Shape::kPairs:
        if (!TakePairs(value, words))
          return Blame(value, fmt::format("'{}' takes pairs: {{key: value}}", name));
        break;
    }
    if (const auto set = setting.set(words); !set)
      Blame(value, fmt::format("{}: {}", name, set.error().message));
  }

  static bool TakeList(const YAML::Node& value, std::vector<std::string>& words) {
    if (!value.IsSequence()) return false;
    for (const auto& item : value) {
      if (!item.IsScalar()) return false;
      words.push_back(item.Scalar());
    }
    return true;
  }

  static bool TakePairs(const YAML::Node& value, std::vector<std::string>& words) {
    if (!value.IsMap()) return false;
    for (const auto& item : value) {
      if (!item.first.IsScalar() || !item.second.IsScalar()) return false;
      words.push_back(item.first.Scalar() + "=" + item.second.Scalar());
    }
    return true;
  }

  std::string file_;
  std::string problems_;
};

// One value in a form that reads back as the same text.
std::string Quoted(const std::string& text) {
  YAML::Emitter out;
  if (text.empty()) out << YAML::DoubleQuoted;
  out << text;
  return out.c_str();
}

std::string Written(const Setting& setting) {
  auto words = setting.ToShow();
  if (setting.shape == Shape::kValue) return Quoted(words.front());
  for (auto& word : words) {
    const auto equals = word.find('=');
    word = setting.shape == Shape::kList
               ? Quoted(word)
               : Quoted(word.substr(0, equals)) + ": " + Quoted(word.substr(equals + 1));
  }
  return setting.shape == Shape::kList ? fmt::format("[{}]", fmt::join(words, ", "))
                                       : fmt::format("{{{}}}", fmt::join(words, ", "));
}

std::string PrintAt(const Table& table, const std::string& indent) {
  std::string text;
  for (const auto& setting : table) {
    text += fmt::format("{}# {}\n{}{}:", indent, setting.help, indent, setting.name);
    text += setting.shape == Shape::kSection ? "\n" + PrintAt(setting.inner, indent + "  ")
                                             : " " + Written(setting) + "\n";
  }
  return text;
}

}  // namespace

Result<> ReadFile(const std::filesystem::path& file, const Table& table) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) return Fail(ErrorCode::kNotFound, "cannot read the config file {}", file.string());
  return ReadText(text, file.string(), table);
}

Result<> ReadText(const std::string& text, const std::string& name, const Table& table) {
  Reader reader(name);
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return {};
    if (root.IsMap())
      reader.Read(root, table, "");
    else
      reader.Blame(root, "expected 'key: value' lines");
  } catch (const YAML::Exception& problem) {
    reader.Blame(problem.mark, problem.msg);
  }
  return reader.Done();
}

std::string Print(const Table& table) { return PrintAt(table, ""); }

}  // namespace muster::settings
