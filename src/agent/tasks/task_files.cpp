#include "agent/tasks/task_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::agent {
namespace {

// An empty file may be there already: to empty it once more would cost as much as to make it.
Result<Fd> MakeOwn(const std::string& path, mode_t mode, std::string_view content,
                   const Account& account) {
  auto fd = OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode);
  if (!fd) return fd;
  struct stat status{};
  if (::fstat(fd->Get(), &status) != 0 || (status.st_size > 0 && ::ftruncate(fd->Get(), 0) != 0))
    return Fail(ErrorCode::kUnavailable, "could not empty {}: {}", path, ErrnoText(errno));
  if (const int error = WriteAll(fd->Get(), content))
    return Fail(ErrorCode::kUnavailable, "could not write {}: {}", path, ErrnoText(error));
  if (account.switch_to && ::fchown(fd->Get(), account.uid, account.gid) != 0)
    return Fail(ErrorCode::kUnavailable, "could not give {} to user '{}': {}", path, account.name,
                ErrnoText(errno));
  return fd;
}

Result<Fd> MakeScript(const TaskFolder& folder, const Command& command, const Account& account) {
  if (command.script.empty()) return Fd();
  const auto fd = MakeOwn(folder.Script(), 0700, command.script, account);
  if (!fd) return Fail(fd.error());
  // Opened anew: a script that is open for writing cannot be executed.
  return OpenFile(folder.Script(), O_RDONLY);
}

Result<Fd> MakeStdin(const TaskFolder& folder, const Command& command) {
  if (command.stdin_data.empty()) return OpenFile("/dev/null", O_RDONLY);
  if (auto wrote = WriteFile(folder.Stdin(), command.stdin_data); !wrote)
    return Fail(wrote.error());
  return OpenFile(folder.Stdin(), O_RDONLY);
}

}  // namespace

Result<TaskProcess::Files> MakeTaskFiles(const TaskFolder& folder, const Command& command,
                                         const Account& account) {
  auto script = MakeScript(folder, command, account);
  if (!script) return Fail(script.error());
  auto in = MakeStdin(folder, command);
  if (!in) return Fail(in.error());
  auto output = command.IsProcess() ? MakeOwn(folder.Output(), 0600, "", account) : Fd();
  if (!output) return Fail(output.error());
  return TaskProcess::Files{std::move(*in), std::move(*script), std::move(*output)};
}

}  // namespace muster::agent
