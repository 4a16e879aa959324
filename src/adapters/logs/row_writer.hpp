#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/logs/log_piece.hpp"
#include "adapters/logs/output_state.hpp"

namespace muster::logs {

// Turns the chunks of one transaction into the pieces it writes: large ones alone, small ones of a
// task that follow each other together.
class RowWriter {
 public:
  explicit RowWriter(std::string day) : day_(std::move(day)) {}

  // The chunk from `at` on. `last` is the row of its task that was written last; a chunk that
  // follows it is written with it, as a longer piece with the same key.
  void Add(const LogChunk& chunk, std::size_t at, bool of_new_task,
           const std::optional<LastRow>& last);

  // All pieces; nothing is added after it.
  const std::vector<LogPiece>& Finish();

  // About the piece of this number.
  const TaskKey& TaskOf(std::size_t piece) const { return pieces_[piece].task; }
  bool OfNewTask(std::size_t piece) const { return of_new_tasks_[piece]; }

  // The tasks that were written to, each with its last row if another chunk may join that one.
  const std::map<TaskKey, std::optional<LastRow>>& LastRows() const { return last_rows_; }

 private:
  struct Open {
    OpenRow row;
    bool of_new_task = false;
  };
  void AddSmall(const LogChunk& chunk, std::size_t at, std::size_t size, bool of_new_task,
                const std::optional<LastRow>& last);
  void Close(const TaskKey& task);
  void Put(LogPiece piece, bool of_new_task);

  const std::string day_;
  std::vector<LogPiece> pieces_;
  std::vector<bool> of_new_tasks_;
  std::map<TaskKey, Open> open_;
  std::map<TaskKey, std::optional<LastRow>> last_rows_;
};

}  // namespace muster::logs
