#pragma once

#include "agent/files.hpp"
#include "agent/tasks/task_folder.hpp"
#include "base/result.hpp"
#include "domain/task.hpp"

namespace muster::agent {

// The exit record of a task while its shim runs. Room for it is taken before anything starts, so
// that a disk filled by the task cannot hide its end. Outputs may need more than that; theirs is
// made of what the task's own file of them gives back, and if even that does not do, the record
// says that they are lost.
class ExitFile {
 public:
  // Takes the room. kUnavailable: there is none, and nothing says that the task may have started.
  static Result<ExitFile> Reserve(const TaskFolder& folder, const TaskKey& task);

  // The task ended so; `end.log` is set. From here on there is an `exit`, unless it fails.
  [[nodiscard]] bool Write(TaskEnd end) const;

 private:
  ExitFile(TaskFolder folder, const TaskKey& task, Fd file)
      : folder_(std::move(folder)), task_(task), file_(std::move(file)) {}
  bool Put(const TaskEnd& end) const;

  TaskFolder folder_;
  TaskKey task_;
  Fd file_;
};

// Two remarks as one.
std::string JoinReasons(std::string first, std::string_view second);

}  // namespace muster::agent
