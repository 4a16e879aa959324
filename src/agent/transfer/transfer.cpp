#include "agent/transfer/transfer.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tasks/task_folder.hpp"
#include "agent/transfer/part_file.hpp"
#include "agent/transfer/pull.hpp"
#include "agent/transfer/push.hpp"

namespace muster::agent {
namespace {

// Whole lines at once, so that they reach the log as they come.
void Say(int fd, const std::string& line) { WriteAll(fd, line + "\n"); }

Result<> Carry(const std::string& path) {
  const TaskFolder folder{path};
  const auto bytes = ReadFile(folder.Order());
  if (!bytes) return Fail(bytes.error());
  const auto record = ParseOrderRecord(*bytes);
  if (!record) return Fail(record.error());
  const Command& command = *record->order.command;
  if (!command.MovesFiles()) return Fail(ErrorCode::kInvalid, "{} moves no files", path);
  // DATA/tasks/FOLDER
  const auto data = std::filesystem::path(path).parent_path().parent_path().string();
  const TransferOutput output{.out = [](const std::string& line) { Say(STDOUT_FILENO, line); },
                              .err = [](const std::string& line) { Say(STDERR_FILENO, line); }};
  const std::uint64_t rate = command.push ? command.push->rate : command.pull->rate;
  Courier courier(data, rate, output.err);
  TidyParts(data);
  return command.push ? Push(*command.push, command.user, data, courier, output)
                      : Pull(*command.pull, command.user, courier, output);
}

}  // namespace

int RunTransfer(const std::string& folder) {
  ::prctl(PR_SET_NAME, "muster-transfer");
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(022);
  const auto carried = Carry(folder);
  if (carried) return 0;
  Say(STDERR_FILENO, carried.error().message);
  return 1;
}

}  // namespace muster::agent
