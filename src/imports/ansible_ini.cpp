#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "imports/ansible.hpp"

namespace muster::imports {
namespace {

struct Word {
  std::string text;
  std::size_t at = 0;
};

// Words as a shell cuts them: quotes hold spaces, a '#' at the start of a word begins a comment.
// Nothing when a quote is not closed; `bad` is where it opened.
std::optional<std::vector<Word>> CutWords(std::string_view line, std::size_t& bad) {
  std::vector<Word> words;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ' || line[i] == '\t') {
      ++i;
      continue;
    }
    if (line[i] == '#') break;
    Word word{"", i};
    char quote = 0;
    for (; i < line.size() && (quote != 0 || (line[i] != ' ' && line[i] != '\t')); ++i) {
      const char c = line[i];
      if (quote != 0 && c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        bad = i;
      } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
        word.text += line[++i];
      } else {
        word.text += c;
      }
    }
    if (quote != 0) return std::nullopt;
    words.push_back(std::move(word));
  }
  return words;
}

std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// A value that is no single text looks like a literal of Python.
bool IsSimple(std::string_view text) { return !text.starts_with('[') && !text.starts_with('{'); }

class IniReader {
 public:
  IniReader(AnsibleInventory& out, Findings& findings) : out_(out), findings_(findings) {}

  void Take(std::string_view line, std::uint32_t number) {
    const auto trimmed = Trim(line);
    if (trimmed.empty() || trimmed.starts_with('#') || trimmed.starts_with(';')) return;
    if (findings_.Full()) return;
    line_ = line;
    columns_ = ColumnCounter(line);
    number_ = number;
    const auto start = static_cast<std::size_t>(trimmed.data() - line.data());
    // A host may begin with a range, too: [a:c].example.com
    if (trimmed.starts_with('[') && IsSection(trimmed)) return TakeSection(trimmed, start);
    switch (part_) {
      case Part::kHosts:
        return TakeHost();
      case Part::kChildren:
        return TakeChild(trimmed, start);
      case Part::kVars:
        return TakeVar(trimmed, start);
      case Part::kUnknown:
        return;
    }
  }

 private:
  enum class Part { kHosts, kChildren, kVars, kUnknown };

  Position At(std::size_t byte) { return {number_, columns_.Of(byte)}; }

  static bool IsSection(std::string_view line) {
    const auto close = line.find(']');
    if (close == std::string_view::npos) return true;  // and TakeSection says what is wrong
    const auto rest = Trim(line.substr(close + 1));
    return rest.empty() || rest.starts_with('#') || rest.starts_with(';');
  }

  void TakeSection(std::string_view line, std::size_t start) {
    part_ = Part::kUnknown;
    const auto close = line.find(']');
    if (close == std::string_view::npos)
      return findings_.Wrong(At(start), "a section ends with ']'");
    const auto inside = Trim(line.substr(1, close - 1));
    const auto colon = inside.find(':');
    group_ = Trim(inside.substr(0, colon));
    const auto what = colon == std::string_view::npos ? "" : Trim(inside.substr(colon + 1));
    if (what != "" && what != "hosts" && what != "children" && what != "vars")
      return findings_.Wrong(At(start), "'{}' is not a section; expected hosts, children or vars",
                             inside);
    if (group_.empty()) return findings_.Wrong(At(start), "a section names a group");
    part_ = what == "vars" ? Part::kVars : what == "children" ? Part::kChildren : Part::kHosts;
    out_.groups.try_emplace(group_, AnsibleGroup{At(start), {}, {}, {}});
  }

  void TakeHost() {
    std::size_t bad = 0;
    const auto words = CutWords(line_, bad);
    if (!words) return findings_.Wrong(At(bad), "the quote that is opened here is never closed");
    if (words->empty()) return;
    AnsibleVars vars;
    for (std::size_t i = 1; i < words->size(); ++i) {
      const auto& word = (*words)[i];
      const auto equals = word.text.find('=');
      if (equals == std::string::npos || equals == 0) {
        findings_.Wrong(At(word.at), "'{}': expected variables behind the host, as key=value",
                        word.text);
        continue;
      }
      auto value = word.text.substr(equals + 1);
      const bool simple = IsSimple(value);
      vars[word.text.substr(0, equals)] = {std::move(value), At(word.at), simple};
    }
    AddPattern(out_, words->front().text, At(words->front().at), group_, vars, findings_);
  }

  void TakeChild(std::string_view line, std::size_t start) {
    const auto name = Trim(line.substr(0, line.find('#')));
    if (name.find_first_of(" \t=") != std::string_view::npos)
      return findings_.Wrong(At(start), "expected the name of one group");
    out_.groups[group_].children.emplace(name);
    out_.groups.try_emplace(std::string(name), AnsibleGroup{At(start), {}, {}, {}});
  }

  void TakeVar(std::string_view line, std::size_t start) {
    const auto equals = line.find('=');
    const auto key = Trim(line.substr(0, equals));
    if (equals == std::string_view::npos || key.empty())
      return findings_.Wrong(At(start), "expected key=value");
    auto value = line.substr(equals + 1);
    if (const auto comment = value.find(" #"); comment != std::string_view::npos)
      value = value.substr(0, comment);
    value = Trim(value);
    out_.groups[group_].vars[std::string(key)] = {std::string(Unquoted(value)), At(start),
                                                  IsSimple(value)};
  }

  AnsibleInventory& out_;
  Findings& findings_;
  Part part_ = Part::kHosts;
  std::string group_;  // "" before the first section
  std::string_view line_;
  ColumnCounter columns_;
  std::uint32_t number_ = 0;
};

}  // namespace

void ReadAnsibleIni(std::string_view text, AnsibleInventory& out, Findings& findings) {
  IniReader reader(out, findings);
  ForEachLine(text,
              [&](std::string_view line, std::uint32_t number) { reader.Take(line, number); });
}

}  // namespace muster::imports
