#include "adapters/logs/row_writer.hpp"

#include <algorithm>

namespace muster::logs {

void RowWriter::Add(const LogChunk& chunk, std::size_t at, bool of_new_task,
                    const std::optional<LastRow>& last) {
  while (at < chunk.data.size()) {
    const std::size_t size = std::min(chunk.data.size() - at, kMostInPiece);
    if (size <= OpenRow::kMostInChunk) {
      AddSmall(chunk, at, size, of_new_task, last);
    } else {
      Close(chunk.task);
      Put(PieceOf(chunk, at, size), of_new_task);
      last_rows_[chunk.task].reset();
    }
    at += size;
  }
}

void RowWriter::AddSmall(const LogChunk& chunk, std::size_t at, std::size_t size, bool of_new_task,
                         const std::optional<LastRow>& last) {
  const auto open = open_.find(chunk.task);
  if (open != open_.end()) {
    if (open->second.row.Add(chunk, at, size)) return;
    Close(chunk.task);
  } else if (last && last->day == day_ && !last_rows_.contains(chunk.task)) {
    OpenRow row = last->row;
    if (row.Add(chunk, at, size)) {
      open_.emplace(chunk.task, Open{std::move(row), of_new_task});
      return;
    }
  }
  open_.emplace(chunk.task, Open{OpenRow(chunk, at, size), of_new_task});
}

void RowWriter::Close(const TaskKey& task) {
  const auto found = open_.find(task);
  if (found == open_.end()) return;
  OpenRow& row = found->second.row;
  Put(row.Piece(), found->second.of_new_task);
  auto& last = last_rows_[task];
  last.reset();
  if (row.Small()) last.emplace(LastRow{day_, std::move(row)});
  open_.erase(found);
}

void RowWriter::Put(LogPiece piece, bool of_new_task) {
  pieces_.push_back(std::move(piece));
  of_new_tasks_.push_back(of_new_task);
}

const std::vector<LogPiece>& RowWriter::Finish() {
  while (!open_.empty()) Close(TaskKey(open_.begin()->first));
  return pieces_;
}

}  // namespace muster::logs
