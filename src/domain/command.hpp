#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/resources.hpp"

namespace muster {

// A file as the artifact store has it.
struct FileEntry {
  std::string path;    // below the folder that is pushed; "" when a single file is
  std::string sha256;  // 32 bytes; of a folder ""
  std::uint64_t size = 0;
  std::uint32_t mode = 0644;
  bool folder = false;

  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

// Puts files on a host. Each is fetched by its hash, unless the host has it already, and takes the
// place of the old one whole.
struct FilePush {
  std::vector<FileEntry> files;  // a folder's in the order they are made
  bool tree = false;             // a folder, and not a single file
  std::string content;           // template; the file itself, when there are no `files`
  std::string to;                // template; ends in '/' when the file keeps its name in a folder
  std::string name;              // the file's own, for that
  std::optional<std::uint32_t> mode;  // of every file, instead of its own
  std::string owner;                  // "user", "user:group", ":group"; "" is the task's user
  std::uint64_t rate = 0;             // bytes a second; 0 is no limit

  friend bool operator==(const FilePush&, const FilePush&) = default;
};

// Brings files of a host into the artifact store.
struct FilePull {
  std::vector<std::string> paths;        // templates; * and ? match names, a folder means all in it
  std::uint64_t max_bytes = 1ULL << 30;  // of one host; past it the task fails
  std::uint64_t rate = 0;

  friend bool operator==(const FilePull&, const FilePull&) = default;
};

// Restarts the host; done when its agent is back after another boot.
struct Reboot {
  std::vector<std::string> argv;  // what does it; none is the system's own way

  friend bool operator==(const Reboot&, const Reboot&) = default;
};

// A secret that reaches the task in its environment and is masked in its output. Only the name is
// kept and decided about; the value joins the order when that leaves the server.
struct SecretUse {
  std::string variable;
  std::string secret;

  friend bool operator==(const SecretUse&, const SecretUse&) = default;
};

// What a task executes on its host: one of `push`, `pull`, `reboot`, else either `argv` (executed
// as it is, without a shell) or `script` (handed to `interpreter` as a file, with `args`).
struct Command {
  // As max_output of a command that is not started yet: its run's share, see OutputShare.
  static constexpr std::uint64_t kShareOfRun = ~0ULL;

  std::vector<std::string> argv;
  std::string script;
  std::string interpreter;  // "" obeys the script's #! line, else /bin/sh
  std::vector<std::string> args;
  std::string stdin_data;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::string> masks;  // byte strings the shim replaces before a byte is kept
  std::string user;                // "" is the agent's default
  std::string folder;              // "" is the user's home
  Duration timeout = std::chrono::hours(1);
  Duration grace = std::chrono::seconds(10);  // between TERM and KILL
  std::uint64_t max_output = 16ULL << 20;     // bytes kept, both streams
  bool kill_leftovers = false;
  Resources resources;
  std::shared_ptr<const FilePush> push = {};
  std::shared_ptr<const FilePull> pull = {};
  std::shared_ptr<const Reboot> reboot = {};
  std::vector<SecretUse> secrets = {};

  bool IsProcess() const { return !push && !pull && !reboot; }
  bool MovesFiles() const { return push || pull; }
  friend bool operator==(const Command& a, const Command& b);
};

// kInvalid when a text is longer than any system takes it: a user's name, a folder, an interpreter.
Result<> CheckLengths(const Command& command);

// Script and stdin together; an order must fit one message.
constexpr std::size_t kMaxCommandBytes = 1 << 20;

// Output kept of each host when nobody said how much: 16 MB, but all hosts of a run together about
// 1 GB; at least 64 KB, which says why a host failed.
constexpr std::uint64_t OutputShare(std::uint64_t hosts) {
  return std::clamp<std::uint64_t>((1ULL << 30) / std::max<std::uint64_t>(hosts, 1), 64ULL << 10,
                                   16ULL << 20);
}

}  // namespace muster
