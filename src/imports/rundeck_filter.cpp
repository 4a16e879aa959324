#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "domain/host.hpp"
#include "domain/targets.hpp"
#include "imports/rundeck_parts.hpp"

namespace muster::imports {
namespace {

struct Criterion {
  std::string key;  // "name", "tags", "os-arch", any attribute
  std::string value;
  bool excludes = false;
};

std::string TargetQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._-").contains(c);
         });
}

// "tags: web+prod name: web-.* !os-family: windows bare". A value may be quoted.
std::vector<Criterion> CutFilter(std::string_view filter) {
  std::vector<Criterion> list;
  bool excludes = false;
  std::string key;
  for (const auto& word : CutArguments(filter)) {
    if (key.empty() && word.size() > 1 && word.ends_with(':')) {
      excludes = word.front() == '!';
      key = word.substr(excludes ? 1 : 0, word.size() - (excludes ? 2 : 1));
      continue;
    }
    if (!key.empty()) {
      list.push_back({key, word, excludes});
      key.clear();
      continue;
    }
    const auto colon = word.find(':');
    const bool no = word.front() == '!';
    if (colon != std::string::npos && colon > (no ? 1U : 0U))
      list.push_back({word.substr(no ? 1 : 0, colon - (no ? 1 : 0)), word.substr(colon + 1), no});
    else
      list.push_back({"name", no ? word.substr(1) : word, no});
  }
  if (!key.empty()) list.push_back({key, "", excludes});
  return list;
}

// A regular expression of the simplest kind as a pattern of names; nothing for others.
std::optional<std::string> PatternOf(std::string_view regex) {
  std::string pattern;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    if (regex.substr(i).starts_with(".*")) {
      pattern += '*';
      ++i;
    } else if (regex.substr(i).starts_with("\\.")) {
      pattern += '.';
      ++i;
    } else if (IsWord("a" + std::string(1, regex[i]))) {
      pattern += regex[i];
    } else {
      return std::nullopt;
    }
  }
  return pattern.empty() ? std::nullopt : std::optional(pattern);
}

std::optional<std::string> Joined(const std::vector<std::string>& parts, std::string_view word) {
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return parts.front();
  return fmt::format("({})", fmt::join(parts, fmt::format(" {} ", word)));
}

std::optional<std::string> NamesOf(std::string_view value) {
  if (value.size() > 1 && value.starts_with('/') && value.ends_with('/'))
    value = value.substr(1, value.size() - 2);
  std::vector<std::string> parts;
  for (const auto part : Split(value, ',')) {
    const auto pattern = PatternOf(Trim(part));
    if (!pattern) return std::nullopt;
    parts.push_back(*pattern == "*" ? "all" : *pattern);
  }
  return Joined(parts, "or");
}

// Tags are groups here: "a+b" is both, "a,b" either.
std::optional<std::string> TagsOf(std::string_view value) {
  std::vector<std::string> either;
  for (const auto part : Split(value, ',')) {
    std::vector<std::string> both;
    for (const auto tag : Split(part, '+')) {
      if (!IsWord(Trim(tag))) return std::nullopt;
      both.push_back("@" + std::string(Trim(tag)));
    }
    const auto all = Joined(both, "and");
    if (!all) return std::nullopt;
    either.push_back(*all);
  }
  return Joined(either, "or");
}

std::optional<std::string> AttributeOf(const std::string& key, const std::string& value) {
  const std::string label = key == "os-arch" ? "fact.arch" : key;
  if (label != "fact.arch" && !CheckLabel(label, "")) return std::nullopt;
  if (IsWord(value)) return fmt::format("{}={}", label, value);
  auto regex = value;
  if (regex.size() > 1 && regex.starts_with('/') && regex.ends_with('/'))
    regex = regex.substr(1, regex.size() - 2);
  return fmt::format("{}~{}", label, TargetQuoted("^(?:" + regex + ")$"));
}

class FilterReader {
 public:
  FilterReader(Position at, JobNotes& notes) : at_(at), notes_(notes) {}

  void Take(const Criterion& one) {
    if (one.key == "os-family" || one.key == "os-name") {
      notes_.Lost(at_, "the filter by {}: '{}' was dropped: every host of Muster is Linux", one.key,
                  one.value);
      return;
    }
    auto part = PartOf(one);
    if (!part || !TargetExpression::Parse(*part)) {
      notes_.Lost(at_, "the filter {}: '{}' cannot be said in targets", one.key, one.value);
      failed_ = true;
      return;
    }
    if (one.key == "tags")
      notes_.Changed(at_, "tags '{}' are groups: {}; make them with 'kind: group'", one.value,
                     *part);
    parts_.push_back(one.excludes ? "not " + *part : *part);
  }

  // A part that is not as it should be: without it, the job would work on other hosts.
  void Miss(Position at, std::string_view key) {
    notes_.Lost(at, "node filter: '{}' is not one text and was left out", key);
    failed_ = true;
  }

  // "" when nothing, or not all of it, could be said.
  std::string Expression() const {
    if (failed_ || parts_.empty()) return "";
    return fmt::format("{}", fmt::join(parts_, " and "));
  }
  bool failed() const { return failed_; }

 private:
  static std::optional<std::string> PartOf(const Criterion& one) {
    if (one.key == "name" || one.key == "nodename" || one.key == "hostname")
      return NamesOf(one.value);
    if (one.key == "tags") return TagsOf(one.value);
    return AttributeOf(one.key, one.value);
  }

  Position at_;
  JobNotes& notes_;
  std::vector<std::string> parts_;
  bool failed_ = false;
};

void TakeMap(const Node* map, bool excludes, FilterReader& reader) {
  if (map == nullptr || map->kind == Node::Kind::kNothing) return;
  if (!map->IsMap()) return reader.Miss(map->at, excludes ? "exclude" : "include");
  for (std::size_t i = 0; i < map->keys.size(); ++i)
    if (map->items[i].IsText())
      reader.Take({map->keys[i].text, map->items[i].text, excludes});
    else
      reader.Miss(map->keys[i].at, map->keys[i].text);
}

}  // namespace

std::string TargetsOf(const Node& job, JobNotes& notes) {
  const Node* filters = job.Find("nodefilters");
  if (filters == nullptr) {
    notes.Changed(job.at,
                  "it ran on Rundeck's own machine; a start has to say -t, or set 'targets'");
    return "";
  }
  const auto at = job.FindKey("nodefilters")->at;
  const auto filter = TextIn(*filters, "filter");
  const auto without = TextIn(*filters, "filterExclude");
  if ((filter + without).contains("${")) {
    if (without.empty())
      notes.Lost(at, "the filter '{}' depends on an option: a start has to say -t", filter);
    else
      notes.Lost(at,
                 "the filter '{}' without '{}' depends on an option: a start has to say -t, and -x "
                 "for the hosts that are left out",
                 filter, without);
    return "";
  }
  FilterReader reader(at, notes);
  for (const std::string_view key : {"filter", "filterExclude"})
    if (const Node* text = filters->Find(key);
        text != nullptr && !text->IsText() && text->kind != Node::Kind::kNothing)
      reader.Miss(text->at, key);
  for (const auto& one : CutFilter(filter)) reader.Take(one);
  for (auto one : CutFilter(without)) {
    one.excludes = !one.excludes;
    reader.Take(one);
  }
  TakeMap(filters->Find("include"), false, reader);
  TakeMap(filters->Find("exclude"), true, reader);
  if (reader.failed()) {
    notes.Lost(at, "the node filter was left out: a start has to say -t, or set 'targets'");
    return "";
  }
  const Node* selected = job.Find("nodesSelectedByDefault");
  if (selected != nullptr &&
      (!selected->IsText() || !FlagIn(job, "nodesSelectedByDefault", true))) {
    notes.Changed(job.FindKey("nodesSelectedByDefault")->at,
                  "no node is selected by default: a start has to say -t, for example '{}'",
                  reader.Expression());
    return "";
  }
  if (reader.Expression().empty())
    notes.Changed(at, "its node filter names no hosts; a start has to say -t, or set 'targets'");
  else
    notes.Over(at, "node filter: {}", reader.Expression());
  return reader.Expression();
}

}  // namespace muster::imports
