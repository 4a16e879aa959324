#pragma once

#include <memory>
#include <optional>
#include <sys/types.h>

#include "agent/files.hpp"
#include "agent/shim/launch.hpp"
#include "agent/shim/task_child.hpp"
#include "base/result.hpp"

namespace muster::agent {

// A task's first process and everything that descends from it. The caller must be a child subreaper
// (PR_SET_CHILD_SUBREAPER) and have no other children: then orphans come to it, and "no child is
// left" means that nothing of the task is left, whatever groups and sessions it opened.
class TaskProcess {
 public:
  // What only the child uses; script and output may be none.
  struct Files {
    Fd in;
    Fd script;
    Fd output;
  };
  // `launch` must live as long as this object.
  static Result<TaskProcess> Start(const Launch& launch, const Files& own);

  const Fd& Out() const noexcept { return out_; }  // non-blocking, as Err
  const Fd& Err() const noexcept { return err_; }
  void CloseOut() noexcept { out_.Reset(); }
  void CloseErr() noexcept { err_.Reset(); }

  // Takes the ends of some children; to be called after each SIGCHLD, before the questions below,
  // and again while MoreToReap(). A task can start children faster than they are taken.
  void Reap();
  bool MoreToReap() const noexcept { return more_to_reap_; }

  // How the first process ended, as wait() gives it.
  const std::optional<int>& Status() const noexcept { return status_; }
  bool AnyLeft() const noexcept { return any_left_; }

  // Why the first process never became the task; to be asked once it has ended.
  std::optional<LaunchFailure> Failure() const;

  // To the group of the first process, and to every descendant that left it.
  void Signal(int number) const;

 private:
  TaskProcess() = default;

  pid_t pid_ = 0;
  std::unique_ptr<TaskChild> child_;
  Fd out_;
  Fd err_;
  Fd failure_;
  std::optional<int> status_;
  bool any_left_ = true;
  bool more_to_reap_ = false;
};

}  // namespace muster::agent
