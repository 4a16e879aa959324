#include "agent/shim/task_process.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/shim/processes.hpp"

namespace muster::agent {
namespace {

constexpr int kPipeBytes = 256 << 10;
constexpr int kMostReaps = 64;  // at once

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorCode::kUnavailable, "could not open a pipe: {}", ErrnoText(errno));
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

}  // namespace

Result<TaskProcess> TaskProcess::Start(const Launch& launch, const Files& own) {
  auto out = MakePipe();
  auto err = MakePipe();
  auto failure = MakePipe();
  for (const auto* pipe : {&out, &err, &failure})
    if (!*pipe) return Fail(pipe->error());
  // Fewer wake-ups for loud scripts; a host that is out of pipe memory refuses, which is fine.
  for (const auto* pipe : {&out, &err}) ::fcntl((*pipe)->read.Get(), F_SETPIPE_SZ, kPipeBytes);
  TaskProcess process;
  const LaunchFiles files{own.in.Get(), out->write.Get(), err->write.Get(), own.script.Get(),
                          own.output.Get()};
  process.child_ = std::make_unique<TaskChild>(launch, files, failure->write.Get());
  process.pid_ = process.child_->Start();
  if (process.pid_ < 0)
    return Fail(ErrorCode::kUnavailable, "could not start a process: {}", ErrnoText(-process.pid_));
  process.out_ = std::move(out->read);
  process.err_ = std::move(err->read);
  process.failure_ = std::move(failure->read);
  return process;
}

void TaskProcess::Reap() {
  more_to_reap_ = false;
  for (int reaped = 0; reaped < kMostReaps; ++reaped) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == 0) return;
    if (pid < 0) {
      if (errno == EINTR) continue;
      any_left_ = false;
      return;
    }
    if (pid == pid_) status_ = status;
  }
  more_to_reap_ = true;
}

std::optional<LaunchFailure> TaskProcess::Failure() const {
  LaunchFailure failure{};
  if (::read(failure_.Get(), &failure, sizeof failure) != sizeof failure) return {};
  return failure;
}

void TaskProcess::Signal(int number) const {
  bool group_has_it = false;
  EachDescendant(::getpid(), [&](const Process& process, const ProcessHandle& handle) {
    if (process.group != pid_) {
      handle.Signal(number);
    } else if (!group_has_it) {
      // Until the first process is reaped nobody else can have its number, nor that of its group.
      // Afterwards the number means this group only while a member lives.
      const bool lives = !status_ || (::getpgid(process.pid) == pid_ && handle.Signal(0));
      group_has_it = lives && ::kill(-pid_, number) == 0;
    }
  });
  if (status_) return;
  if (!group_has_it) ::kill(-pid_, number);
  // Before its setsid() the first process is still in our own group.
  if (::getpgid(pid_) != pid_) ::kill(pid_, number);
}

}  // namespace muster::agent
