#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imports/crontab.hpp"

// What the files crontab*.cpp share.
namespace muster::imports {

// Each sentence once, with its first place.
class CrontabNotes {
 public:
  template <typename... Args>
  void Changed(const CrontabPlace& place, fmt::format_string<Args...> format, Args&&... args) {
    Add({Carried::kChanged, place, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <typename... Args>
  void Lost(const CrontabPlace& place, fmt::format_string<Args...> format, Args&&... args) {
    Add({Carried::kLost, place, fmt::format(format, std::forward<Args>(args)...)});
  }
  void Add(CrontabNote note);
  std::vector<CrontabNote> Take() &&;

 private:
  std::map<std::pair<Carried, std::string>, std::size_t> known_;
  std::vector<CrontabNote> list_;
  std::size_t more_ = 0;
};

// A line that starts something, as it was read.
struct CrontabEntry {
  CrontabPlace place;
  std::string cron;  // one space between fields
  std::string user;
  std::string command;                     // up to the first %
  std::optional<std::string> input;        // what follows it, with its newlines
  std::map<std::string, std::string> env;  // NAME=VALUE lines above it
  std::string tz;
  std::string comment;  // right above it
};

// The lines of a file that start something; what cannot be imported is told. A file with too many
// variables for one line, or whose documents would be too large together, has no entries: its lines
// would not mean the same without a part of them.
struct CrontabLines {
  std::size_t count = 0;  // with those that cannot
  std::size_t bytes = 0;  // about what the documents of the entries take
  std::vector<CrontabEntry> entries;
};
constexpr std::size_t kMostCrontabEnv = 64 << 10;       // bytes of the variables of one line
constexpr std::size_t kMostCrontabDocuments = 4 << 20;  // bytes of the documents of one file
CrontabLines ReadCrontab(const CrontabFile& file, const CrontabOptions& options,
                         CrontabNotes& notes);

// A setting as Vixie's cron reads it: NAME = VALUE, quotes around either. Nothing: it is none.
struct CrontabSetting {
  std::string name;
  std::string value;
};
std::optional<CrontabSetting> ReadSetting(std::string_view line);

// Five fields, or a word with @, at the beginning of a line. A field that crons do not read alike
// is a problem, though Muster knows it.
struct CrontabWhen {
  std::string cron;
  std::string_view rest;  // of the line, from the first character that is no blank
};
struct CrontabFault {
  std::size_t byte = 0;  // in the line
  std::string sentence;
};
std::expected<CrontabWhen, CrontabFault> ReadWhen(std::string_view line);

// Command and input: % is a newline, all after the first is read by the command, \% is a %.
void CutCommand(std::string_view text, CrontabEntry& entry);

// Writes both documents of entries that say the same.
void WriteDocuments(CrontabTrigger& trigger, const CrontabEntry& entry, const std::string& targets);

// What makes two entries the same: SHA-256 in hex of schedule, zone, user, command, input and
// variables. The author of a line cannot choose it.
std::string IdentityOf(const CrontabEntry& entry);

// "cron-deploy-backup-3f2a90b1c4d5e6f7": with the first 16 digits of the identity.
std::string TriggerNameOf(const CrontabEntry& entry, std::string_view identity);

}  // namespace muster::imports
