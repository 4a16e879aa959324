#pragma once

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <boost/json.hpp>

extern char** environ;

namespace muster {

// Runs tests/support/outside_world.py for as long as it lives.
class OutsideWorld {
 public:
  explicit OutsideWorld(const std::string& cert = "", const std::string& key = "") {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    std::vector<std::string> words = {"/usr/bin/python3", MUSTER_TESTS "/support/outside_world.py"};
    if (!cert.empty()) words.insert(words.end(), {"--cert", cert, "--key", key});
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (posix_spawn(&process_, argv[0], &actions, nullptr, argv.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    ports_ = boost::json::parse(line).as_object();
  }
  ~OutsideWorld() {
    ::close(input_);  // which ends it
    ::waitpid(process_, nullptr, 0);
  }
  OutsideWorld(const OutsideWorld&) = delete;
  OutsideWorld& operator=(const OutsideWorld&) = delete;

  std::string Port(const char* name) const { return std::to_string(ports_.at(name).as_int64()); }
  std::string Http(const std::string& path) const {
    return "http://127.0.0.1:" + Port("http") + path;
  }

 private:
  pid_t process_ = 0;
  int input_ = -1;
  boost::json::object ports_;
};

}  // namespace muster
