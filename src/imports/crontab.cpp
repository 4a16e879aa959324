#include "imports/crontab.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "domain/host_ranges.hpp"
#include "imports/crontab_parts.hpp"

namespace muster::imports {
namespace {

constexpr std::size_t kMostImportDocuments = 64 << 20;

// Gathers entries that say the same.
class Folder {
 public:
  explicit Folder(CrontabNotes& notes) : notes_(notes) {}

  void Take(CrontabEntry entry) {
    const auto identity = IdentityOf(entry);
    const auto [found, fresh] = by_identity_.try_emplace(identity, folds_.size());
    if (!fresh) return Join(folds_[found->second], std::move(entry));
    if (folds_.size() >= kMostCrontabTriggers) {
      by_identity_.erase(found);
      return notes_.Lost(entry.place, "more than {} different lines; import fewer hosts at once",
                         kMostCrontabTriggers);
    }
    Fold fold;
    fold.trigger.name = TriggerNameOf(entry, identity);
    fold.trigger.cron = entry.cron;
    fold.trigger.tz = entry.tz;
    fold.trigger.user = entry.user;
    fold.trigger.places = {entry.place};
    fold.hosts = {entry.place.host};
    fold.entry = std::move(entry);
    folds_.push_back(std::move(fold));
  }

  std::vector<CrontabTrigger> Finish(const std::string& targets) && {
    std::vector<CrontabTrigger> triggers;
    for (auto& fold : folds_) {
      fold.hosts.erase("");
      fold.trigger.hosts.assign(fold.hosts.begin(), fold.hosts.end());
      WriteDocuments(fold.trigger, fold.entry, targets);
      triggers.push_back(std::move(fold.trigger));
    }
    return triggers;
  }

 private:
  struct Fold {
    CrontabTrigger trigger;
    CrontabEntry entry;  // the first
    std::set<std::string> hosts;
  };

  void Join(Fold& fold, CrontabEntry entry) {
    if (!fold.hosts.insert(entry.place.host).second)
      notes_.Changed(entry.place,
                     "'{}' of {} is there more than once; cron starts it as often, trigger {} once",
                     entry.command, entry.user, fold.trigger.name);
    if (fold.entry.comment.empty()) fold.entry.comment = entry.comment;
    fold.trigger.places.push_back(std::move(entry.place));
  }

  CrontabNotes& notes_;
  std::map<std::string, std::size_t> by_identity_;
  std::vector<Fold> folds_;
};

// In a pattern of sed, and between single quotes of a shell.
std::string Pattern(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\'')
      out += R"('\'')";
    else if (std::string_view(R"(\.*[^$/)").contains(c))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string InShell(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:,";
  if (!word.empty() && word.front() != '-' && word.find_first_not_of(kPlain) == std::string::npos)
    return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? R"('\'')" : std::string(1, c);
  return out + "'";
}

std::string Written(const CrontabPlace& place) {
  if (place.path.empty()) return place.host;
  return fmt::format("{}{}{}:{}:{}", place.host, place.host.empty() ? "" : " ", place.path,
                     place.at.line, place.at.column);
}

std::string NotesText(const CrontabImport& import, Carried carried, std::string_view title) {
  std::string text;
  for (const auto& note : import.notes) {
    if (note.carried != carried) continue;
    if (text.empty()) text = fmt::format("{}:\n", title);
    text += "  ";
    if (const auto at = Written(note.place); !at.empty()) text += at + ": ";
    text += note.sentence;
    if (note.times > 1) text += fmt::format(" ({} times)", note.times);
    text += '\n';
  }
  return text;
}

std::string PausedText(std::span<const CrontabTrigger> triggers) {
  const auto runs = std::ranges::count_if(triggers, &CrontabTrigger::runs);
  if (runs == 0) return "all paused";
  return fmt::format("{} paused and {} not", triggers.size() - static_cast<std::size_t>(runs),
                     runs);
}

// Each command once, with the hosts it is for.
std::string CommandsText(const CrontabTrigger& trigger) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const auto& place : trigger.places) {
    auto& list = hosts[CommentOut(place)];
    if (!place.host.empty()) list.push_back(place.host);
  }
  std::string text;
  for (const auto& [command, names] : hosts)
    text += fmt::format("    then{}: {}\n", names.empty() ? "" : " on " + FoldHostNames(names, 200),
                        command);
  return text;
}

}  // namespace

CrontabImport ReadCrontabs(std::span<const CrontabFile> files, const CrontabOptions& options,
                           std::vector<CrontabNote> told) {
  CrontabNotes notes;
  for (auto& note : told) notes.Add(std::move(note));
  Folder folder(notes);
  CrontabImport import;
  std::set<std::string> hosts;
  std::size_t bytes = 0;
  for (const auto& file : files) {
    if (!file.host.empty()) hosts.insert(file.host);
    auto lines = ReadCrontab(file, options, notes);
    import.lines += lines.count;
    if (bytes + lines.bytes > kMostImportDocuments) {
      notes.Lost({file.host, file.path, {}, ""},
                 "{} is left out: the documents of all files would have more than {}; import fewer "
                 "hosts at once",
                 file.path, FormatSize(kMostImportDocuments));
      continue;
    }
    bytes += lines.bytes;
    for (auto& entry : lines.entries) folder.Take(std::move(entry));
  }
  import.hosts = hosts.size();
  import.triggers = std::move(folder).Finish(options.targets);
  import.notes = std::move(notes).Take();
  return import;
}

std::string DocumentsOf(const CrontabTrigger& trigger) {
  return trigger.job_text + "---\n" + trigger.trigger_text;
}

std::string CommentOut(const CrontabPlace& place) {
  return fmt::format("sed -i 's/^{}$/# &/' {}", Pattern(place.line),
                     InShell(place.there.empty() ? place.path : place.there));
}

std::string ReportOf(const CrontabImport& import) {
  std::string text;
  std::size_t carried = 0;
  for (const auto& trigger : import.triggers) {
    carried += trigger.places.size();
    const auto hosts = trigger.hosts.empty() ? "" : " on " + FoldHostNames(trigger.hosts, 200);
    text +=
        fmt::format("{} becomes trigger {}\n    {} ({}) as {}{}\n", Written(trigger.places.front()),
                    trigger.name, trigger.cron, trigger.tz, trigger.user, hosts);
    if (trigger.runs)
      text +=
          "    it is there and not paused: cron and Muster both start it until the old entry is "
          "commented out\n";
    text += CommandsText(trigger);
  }
  text += NotesText(import, Carried::kChanged, "changed in meaning");
  text += NotesText(import, Carried::kLost, "not carried over");
  const auto from = import.hosts == 0   ? ""
                    : import.hosts == 1 ? " of 1 host"
                                        : fmt::format(" of {} hosts", import.hosts);
  text += fmt::format("{} of {} lines{} became {} {}, {}\n", carried, import.lines, from,
                      import.triggers.size(), import.triggers.size() == 1 ? "trigger" : "triggers",
                      PausedText(import.triggers));
  return text;
}

}  // namespace muster::imports
