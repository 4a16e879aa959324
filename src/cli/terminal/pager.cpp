#include "cli/terminal/pager.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/text.hpp"
#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

constexpr int kCannotExecute = 126;  // of the shell, as is the next
constexpr int kNotFound = 127;
constexpr int kEndedByInterrupt = 128 + SIGINT;

bool IsInstalled(std::string_view program) {
  const char* path = std::getenv("PATH");
  for (const auto folder : Split(path == nullptr ? "" : path, ':'))
    if (!folder.empty() && access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0)
      return true;
  return false;
}

// This process' environment, as the pager gets it.
class PagerEnvironment {
 public:
  PagerEnvironment() {
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string_view entry(*at);
      if (!entry.starts_with("MUSTER_TOKEN=") && !entry.starts_with("LESSSECURE="))
        entries_.emplace_back(entry);
    }
    entries_.emplace_back("LESSSECURE=1");
    // So that colours are colours in a pager that is named without options.
    if (std::getenv("LESS") == nullptr) entries_.emplace_back("LESS=FRX");
    if (std::getenv("LV") == nullptr) entries_.emplace_back("LV=-c");
    for (auto& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  char** Get() { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

// Ctrl-C and Ctrl-\ do not end this process while it lives.
class KeysIgnored {
 public:
  KeysIgnored() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ignore, &before_[i]);
  }
  ~KeysIgnored() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  KeysIgnored(const KeysIgnored&) = delete;
  KeysIgnored& operator=(const KeysIgnored&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// As git does, plain words are started without a shell: one that waits for the pager would end by a
// Ctrl-C that the pager ignores.
std::vector<std::string> WordsOf(const std::string& command) {
  constexpr std::string_view kShells = "|&;<>()$`\\\"'\t\n*?[#~=%!{}";
  if (command.find_first_of(kShells) != std::string::npos) return {"/bin/sh", "-c", command};
  std::vector<std::string> words;
  for (const auto word : Split(command, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

// Starts the command with `input` as its stdin; -1 when that fails.
pid_t Start(const std::string& command, int input) {
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) sigaddset(&usual, signal);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  auto words = WordsOf(command);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, pointers.front(), &files, &attributes, pointers.data(),
                                  PagerEnvironment().Get());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed == 0 ? child : -1;
}

PagerEnd WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return PagerEnd::kShown;
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGINT ? PagerEnd::kInterrupted : PagerEnd::kShown;
  const int code = WEXITSTATUS(status);
  if (code == kCannotExecute || code == kNotFound) return PagerEnd::kNotStarted;
  return code == kEndedByInterrupt ? PagerEnd::kInterrupted : PagerEnd::kShown;
}

}  // namespace

std::string PagerCommand() {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || *terminal == '\0' || std::string_view(terminal) == "dumb") return "";
  const char* chosen = std::getenv("MUSTER_PAGER");
  if (chosen == nullptr) chosen = std::getenv("PAGER");
  if (chosen == nullptr) return IsInstalled("less") ? "less -FRX" : "";
  const std::string command(Trim(chosen));
  return command == "cat" ? "" : command;
}

PagerEnd ShowInPager(const std::string& command, const ShownText& text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return PagerEnd::kNotStarted;
  const KeysIgnored ignored;
  const pid_t child = Start(command, ends[0]);
  close(ends[0]);
  std::FILE* file = fdopen(ends[1], "w");
  if (child > 0 && file != nullptr) WriteToReader(file, text);
  if (file != nullptr) std::fclose(file);
  return child > 0 ? WaitFor(child) : PagerEnd::kNotStarted;
}

}  // namespace muster::cli
