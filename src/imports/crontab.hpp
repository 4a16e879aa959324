#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imports/findings.hpp"

// Crontabs, turned into jobs and paused triggers. Pure: the same texts give the same documents. A
// line is read as Vixie's cron (Debian's) reads it, and what that would not run is not imported;
// equal lines of several hosts become one trigger. docs/crontab.md has the rules.
namespace muster::imports {

struct CrontabFile {
  std::string host;        // it lies on; "" when only the targets are known
  std::string path;        // what to call it
  std::string there = {};  // where it lies on its host, when that is not `path`
  std::string text;        // as it is, binary noise included
  std::string user;        // whose it is; "" when each line names its user, as in /etc/cron.d
  std::string tz;          // of the host's clock; "" is UTC
  bool cut = false;        // there is more of it; its last line is not to be trusted
};

struct CrontabOptions {
  std::string targets;  // of lines of files without a host; "" leaves them without
  // Whether a time zone is known; a line in one that is not is left out. Nothing: all are.
  std::function<bool(const std::string&)> knows_zone = {};
};

// Where a line stands.
struct CrontabPlace {
  std::string host;
  std::string path;
  Position at;
  std::string line;  // as it is in the file, without its end; of notes "" when it is about a file
  std::string there = {};  // where the file lies on its host, when that is not `path`

  friend bool operator==(const CrontabPlace&, const CrontabPlace&) = default;
};

struct CrontabNote {
  Carried carried = Carried::kLost;
  CrontabPlace place;     // the first
  std::string sentence;   // with what to do
  std::size_t times = 1;  // it holds, mostly on other hosts
};

// Lines that say the same.
struct CrontabTrigger {
  std::string name;  // of the job and of the trigger; the same for the same line and environment
  std::string cron;
  std::string tz;
  std::string user;
  std::vector<std::string> hosts;  // sorted; empty when only the targets are known
  std::vector<CrontabPlace> places;
  std::string job_text;
  std::string trigger_text;
  bool runs = false;  // the server has it already, and it is not paused
};
std::string DocumentsOf(const CrontabTrigger& trigger);  // both, with --- between

struct CrontabImport {
  std::size_t lines = 0;                 // that start something
  std::size_t hosts = 0;                 // that are named, with files
  std::vector<CrontabTrigger> triggers;  // in the order of their first lines
  std::vector<CrontabNote> notes;        // kChanged and kLost, each sentence once
};

constexpr std::size_t kMostCrontabBytes = 1 << 20;  // of a file
constexpr std::size_t kMostCrontabTriggers = 10'000;
constexpr std::size_t kMostCrontabNotes = 1'000;

// Every text is a document that Muster's parser takes.
// What was found out before, `told`, comes first among the notes.
CrontabImport ReadCrontabs(std::span<const CrontabFile> files, const CrontabOptions& options,
                           std::vector<CrontabNote> told = {});

// For people: what became of the lines, with the command that comments out each old entry.
std::string ReportOf(const CrontabImport& import);

// A command for a shell on the host that comments out every line that is this one, and no other.
std::string CommentOut(const CrontabPlace& place);

// For the same line of further hosts: `kept`, the document of a trigger that is there, with the
// targets of `imported` added to its own. Everything else of it stays as it is. Nothing when the
// two differ in more than targets and description, so that one of them would be lost.
std::optional<std::string> JoinTargets(std::string_view kept, std::string_view imported);

// `imported` with the targets of both; `imported` as it is when `kept` cannot be read.
std::string ReplaceButTargets(std::string_view kept, std::string_view imported);

// What a host says of its crontabs (CollectScript), as files of `host`; and what to tell of it.
struct CollectedCrontabs {
  std::vector<CrontabFile> files;
  std::vector<CrontabNote> notes;
};
CollectedCrontabs ReadCollected(const std::string& host, std::string_view output);

// A script for /bin/sh that prints the crontabs below `root` ("" is the host's own) and changes
// nothing. It takes at most kMostCollectedFile bytes of each and kMostCollectedFiles of them.
std::string CollectScript(std::string_view root);
constexpr std::size_t kMostCollectedFile = 256 << 10;
constexpr std::size_t kMostCollectedFiles = 2'000;

}  // namespace muster::imports
