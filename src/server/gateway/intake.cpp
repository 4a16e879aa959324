#include "server/gateway/intake.hpp"

#include <atomic>
#include <map>
#include <utility>

namespace muster::server {
namespace {

const LogTotals* TotalsOf(const link::Report& report) {
  if (report.kind == link::ReportKind::kEnded)
    return report.end && report.end->log ? &*report.end->log : nullptr;
  if (report.kind == link::ReportKind::kLogEnded) return report.log ? &*report.log : nullptr;
  return nullptr;
}

bool ConcernsOnly(const link::NodeFrame& frame, HostId host) {
  for (const auto& chunk : frame.chunks)
    if (chunk.task.host != host) return false;
  for (const auto& report : frame.reports)
    if (report.task.host != host) return false;
  return true;
}

// Reports of one frame whose outputs are being proven; handed over together when the last answer is
// in. Shared by the log store's callbacks.
struct Proving {
  engine::NodeReports command;
  std::atomic<std::size_t> open{1};
  std::atomic<bool> failed{false};
};

}  // namespace

void Intake::Take(LinkId link, HostId host, link::NodeFrame frame) {
  if (!ConcernsOnly(frame, host))
    return exits_.close(link, {ErrorCode::kDenied, "the node spoke of another host's task"});
  if (!frame.chunks.empty()) Store(link, std::move(frame.chunks));
  if (!frame.reports.empty()) PassReports(link, frame.session, std::move(frame.reports));
}

void Intake::Store(LinkId link, std::vector<LogChunk> chunks) {
  // A node sends its output in order from the durable end, so the end of the last chunk is durable
  // when all of them are.
  std::map<TaskKey, std::uint64_t> ends;
  for (const auto& chunk : chunks) ends[chunk.task] = chunk.offset + chunk.data.size();
  auto copy = exits_.stored ? chunks : std::vector<LogChunk>{};
  logs_.Append(std::move(chunks),
               [this, link, ends = std::move(ends), copy = std::move(copy)](Result<> stored) {
                 if (!stored) return exits_.close(link, stored.error());
                 if (exits_.stored) exits_.stored(copy);
                 link::ServerFrame frame;
                 for (const auto& [task, end] : ends) frame.log_acks.push_back({task, end});
                 exits_.send(link, std::move(frame));
               });
}

void Intake::PassReports(LinkId link, std::uint64_t session, std::vector<link::Report> reports) {
  auto proving = std::make_shared<Proving>();
  proving->command.link = link;
  proving->command.session = session;
  for (auto& report : reports)
    proving->command.reports.push_back({std::move(report), std::nullopt});
  const auto finish = [this, proving] {
    if (proving->open.fetch_sub(1) == 1 && !proving->failed)
      exits_.reports(std::move(proving->command));
  };
  for (auto& marked : proving->command.reports) {
    const LogTotals* totals = TotalsOf(marked.report);
    if (totals == nullptr) continue;
    proving->open.fetch_add(1);
    const TaskKey task = marked.report.task;
    const std::uint64_t bytes = totals->bytes;
    logs_.Finish(
        task, *totals,
        [this, proving, finish, link, task, bytes, slot = &marked.mark](Result<LogMark> mark) {
          if (mark) {
            *slot = std::move(*mark);
          } else if (mark.error().code == ErrorCode::kConflict &&
                     logs_.DurableEnd(task).value_or(0) >= bytes) {
            *slot = LogMark{
                .state = LogState::kGap, .bytes = bytes, .stdout_sha256 = {}, .stderr_sha256 = {}};
          } else if (!proving->failed.exchange(true)) {
            exits_.close(link, mark.error());
          }
          finish();
        });
  }
  finish();
}

}  // namespace muster::server
