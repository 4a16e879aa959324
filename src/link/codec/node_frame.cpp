#include "link/codec/codec.hpp"
#include "link/codec/parts.hpp"
#include "link/frame_bounds.hpp"

namespace muster::link {
namespace {

using namespace codec;  // NOLINT: Put and Take are this folder's own words

void PutHello(const Hello& hello, wire::Hello* out) {
  out->set_version(Clean(hello.version));
  for (const auto& feature : hello.features) out->add_features(Clean(feature));
  for (const auto& [key, value] : hello.facts) {
    auto* pair = out->add_facts();
    pair->set_key(Clean(key));
    pair->set_value(Clean(value));
  }
  out->set_store(Clean(hello.store));
  out->set_boot(Clean(hello.boot));
  out->set_session(hello.session);
  out->set_highest_term(hello.highest_term.value);
  for (const auto& held : hello.tasks) {
    auto* task = out->add_tasks();
    Put(held.task, task->mutable_task());
    task->set_state(static_cast<std::uint32_t>(held.state));
    if (held.end) Put(*held.end, task->mutable_end());
  }
  out->set_sent_at(hello.sent_at);
  out->set_has_others(hello.has_others);
  if (hello.seen) out->set_seen(*hello.seen);
}

void PutReport(const Report& report, wire::Report* out) {
  Put(report.task, out->mutable_task());
  out->set_kind(static_cast<std::uint32_t>(report.kind));
  if (report.end) Put(*report.end, out->mutable_end());
  if (report.log) Put(*report.log, out->mutable_log());
}

void PutChunk(const LogChunk& chunk, wire::LogChunk* out) {
  Put(chunk.task, out->mutable_task());
  out->set_offset(chunk.offset);
  out->set_stream(static_cast<std::uint32_t>(chunk.stream));
  out->set_time_ms(chunk.time.ms);
  out->set_data(chunk.data);
}

Result<HeldTask> TakeHeld(const wire::HeldTask& in) {
  if (!in.has_task()) return Fail(ErrorCode::kInvalid, "link: a held task without its key");
  if (in.state() < 1 || in.state() > 3)
    return Fail(ErrorCode::kInvalid, "link: {} is not a state of a held task", in.state());
  HeldTask held{.task = Take(in.task()), .state = static_cast<HeldState>(in.state()), .end = {}};
  if (in.has_end()) {
    auto end = Take(in.end());
    if (!end) return Fail(end.error());
    held.end = std::move(*end);
  }
  if (held.state == HeldState::kEnded && !held.end)
    return Fail(ErrorCode::kInvalid, "link: task {} is held as ended and does not say how",
                FormatTaskKey(held.task));
  return held;
}

Result<> CheckCount(std::string_view what, int count, std::size_t most) {
  if (static_cast<std::size_t>(count) <= most) return {};
  return Fail(ErrorCode::kInvalid, "link: {} {}; at most {} are taken", count, what, most);
}

// Before anything is copied: what is refused costs no more than to parse it.
Result<> CheckCounts(const wire::NodeFrame& in) {
  if (auto fits = CheckCount("features", in.hello().features_size(), kMostFeatures); !fits)
    return fits;
  if (auto fits = CheckCount("facts", in.hello().facts_size(), kMostFacts); !fits) return fits;
  if (auto fits = CheckCount("tasks", in.hello().tasks_size(), kMostHeldTasks); !fits) return fits;
  if (auto fits = CheckCount("reports", in.reports_size(), kMostReports); !fits) return fits;
  return CheckCount("pieces of output", in.chunks_size(), kMostChunks);
}

Result<Hello> TakeHello(const wire::Hello& in) {
  Hello hello{.version = in.version(),
              .features = {in.features().begin(), in.features().end()},
              .facts = {},
              .store = in.store(),
              .boot = in.boot(),
              .session = in.session(),
              .highest_term = Term(in.highest_term()),
              .tasks = {},
              .sent_at = in.sent_at(),
              .has_others = in.has_others()};
  if (in.has_seen()) hello.seen = in.seen();
  for (const auto& pair : in.facts()) hello.facts.emplace(pair.key(), pair.value());
  hello.tasks.reserve(static_cast<std::size_t>(in.tasks_size()));
  for (const auto& task : in.tasks()) {
    auto held = TakeHeld(task);
    if (!held) return Fail(held.error());
    hello.tasks.push_back(std::move(*held));
  }
  return hello;
}

Result<Report> TakeReport(const wire::Report& in) {
  if (!in.has_task()) return Fail(ErrorCode::kInvalid, "link: a report without a task");
  if (in.kind() < 1 || in.kind() > 4)
    return Fail(ErrorCode::kInvalid, "link: {} is not a kind of report", in.kind());
  Report report{
      .task = Take(in.task()), .kind = static_cast<ReportKind>(in.kind()), .end = {}, .log = {}};
  if (in.has_end()) {
    auto end = Take(in.end());
    if (!end) return Fail(end.error());
    report.end = std::move(*end);
  }
  if (in.has_log()) {
    auto log = Take(in.log());
    if (!log) return Fail(log.error());
    report.log = std::move(*log);
  }
  if ((report.kind == ReportKind::kEnded && !report.end) ||
      (report.kind == ReportKind::kLogEnded && !report.log))
    return Fail(ErrorCode::kInvalid, "link: the report of task {} lacks what it reports",
                FormatTaskKey(report.task));
  return report;
}

// Takes the data out of the message: output is most of what travels.
Result<LogChunk> TakeChunk(wire::LogChunk* in) {
  if (!in->has_task()) return Fail(ErrorCode::kInvalid, "link: output without a task");
  if (in->stream() != 1 && in->stream() != 2)
    return Fail(ErrorCode::kInvalid, "link: {} is not a stream; 1 is stdout, 2 is stderr",
                in->stream());
  if (in->offset() > kMaxOffset)
    return Fail(ErrorCode::kInvalid, "link: output at offset {}", in->offset());
  auto time = TakeTime(in->time_ms());
  if (!time) return Fail(time.error());
  return LogChunk{.task = Take(in->task()),
                  .offset = in->offset(),
                  .stream = static_cast<Stream>(in->stream()),
                  .time = *time,
                  .data = std::move(*in->mutable_data())};
}

}  // namespace

std::string Encode(const NodeFrame& frame) {
  wire::NodeFrame out;
  out.set_session(frame.session);
  if (frame.hello) PutHello(*frame.hello, out.mutable_hello());
  if (frame.beat) {
    out.mutable_beat()->set_sent_at(frame.beat->sent_at);
    out.mutable_beat()->set_running(frame.beat->running);
  }
  for (const auto& chunk : frame.chunks) PutChunk(chunk, out.add_chunks());
  for (const auto& report : frame.reports) PutReport(report, out.add_reports());
  out.set_renew(Clean(frame.renew));
  return Serialize(out);
}

Result<NodeFrame> DecodeNodeFrame(std::string_view bytes) {
  wire::NodeFrame in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  if (auto fits = CheckCounts(in); !fits) return Fail(fits.error());
  NodeFrame frame;
  frame.session = in.session();
  if (in.has_hello()) {
    auto hello = TakeHello(in.hello());
    if (!hello) return Fail(hello.error());
    frame.hello = std::move(*hello);
  }
  if (in.has_beat())
    frame.beat = Beat{.sent_at = in.beat().sent_at(), .running = in.beat().running()};
  frame.chunks.reserve(static_cast<std::size_t>(in.chunks_size()));
  for (auto& item : *in.mutable_chunks()) {
    auto chunk = TakeChunk(&item);
    if (!chunk) return Fail(chunk.error());
    frame.chunks.push_back(std::move(*chunk));
  }
  frame.reports.reserve(static_cast<std::size_t>(in.reports_size()));
  for (const auto& item : in.reports()) {
    auto report = TakeReport(item);
    if (!report) return Fail(report.error());
    frame.reports.push_back(std::move(*report));
  }
  if (in.renew().size() > kMaxRequestBytes)
    return Fail(ErrorCode::kInvalid, "link: a certificate request of {} bytes", in.renew().size());
  frame.renew = std::move(*in.mutable_renew());
  return frame;
}

}  // namespace muster::link
