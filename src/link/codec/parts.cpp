#include "link/codec/parts.hpp"

#include "base/text.hpp"
#include "domain/outputs.hpp"
#include "link/codec/codec.hpp"

namespace muster::link::codec {
namespace {

constexpr std::int64_t kLastMs = 253'402'300'799'999;           // the end of the year 9999
constexpr std::int64_t kLongestMs = 3650LL * 24 * 3600 * 1000;  // as ParseDuration: ten years

void PutHash(const std::string& hash, std::string* out) {
  if (hash != kEmptySha256) *out = hash;
}

Result<std::string> TakeHash(const std::string& in) {
  if (in.empty()) return kEmptySha256;
  if (in.size() != kSha256Bytes)
    return Fail(ErrorCode::kInvalid, "link: a SHA-256 of {} bytes; it has 32", in.size());
  return in;
}

// Unlike the others it may be unknown, which is not silence.
Result<std::string> TakeMaskedHash(const std::string& in) {
  return in.empty() ? Result<std::string>(in) : TakeHash(in);
}

using Outputs = std::vector<std::pair<std::string, std::string>>;

template <typename Pairs>
Result<Outputs> TakeOutputs(const Pairs& in) {
  if (static_cast<std::size_t>(in.size()) > kMaxOutputs)
    return Fail(ErrorCode::kInvalid, "link: {} outputs of a task; at most {} are taken", in.size(),
                kMaxOutputs);
  Outputs outputs;
  std::size_t bytes = 0;
  for (const auto& pair : in) {
    if (!IsOutputName(pair.key()))
      return Fail(ErrorCode::kInvalid, "link: an output of {} bytes with no proper name",
                  pair.value().size());
    bytes += pair.key().size() + pair.value().size();
    outputs.emplace_back(pair.key(), pair.value());
  }
  if (bytes > kMaxOutputBytes)
    return Fail(ErrorCode::kInvalid, "link: {} bytes of outputs; at most {} are taken", bytes,
                kMaxOutputBytes);
  return outputs;
}

bool IsEndState(std::uint32_t state) {
  switch (static_cast<TaskState>(state)) {
    case TaskState::kSucceeded:
    case TaskState::kFailed:
    case TaskState::kTimedOut:
    case TaskState::kKilled:
    case TaskState::kLost:
    case TaskState::kRefused:
    case TaskState::kSkipped:
      return state < kTaskStates;
    case TaskState::kWaiting:
    case TaskState::kQueued:
    case TaskState::kSent:
    case TaskState::kRunning:
    case TaskState::kUnreachable:
      return false;
  }
  return false;
}

}  // namespace

std::string Clean(const std::string& text) {
  if (IsUtf8(text)) return text;
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    while (length <= 4 && at + length <= text.size() &&
           !IsUtf8(std::string_view(text).substr(at, length)))
      ++length;
    const bool whole = length <= 4 && at + length <= text.size();
    if (whole)
      clean.append(text, at, length);
    else
      clean.push_back('?');
    at += whole ? length : 1;
  }
  return clean;
}

void Put(const TaskKey& key, wire::TaskKey* out) {
  out->set_run(key.run.value);
  out->set_visit(key.visit.value);
  out->set_ordinal(key.ordinal);
  out->set_host(key.host.value);
  out->set_attempt(key.attempt.value);
}

void Put(const LogTotals& totals, wire::LogTotals* out) {
  out->set_bytes(totals.bytes);
  out->set_dropped(totals.dropped);
  out->set_gap(totals.gap);
  PutHash(totals.stdout_sha256, out->mutable_stdout_sha256());
  PutHash(totals.stderr_sha256, out->mutable_stderr_sha256());
  out->set_masked_sha256(totals.masked_sha256);
}

void Put(const TaskEnd& end, wire::TaskEnd* out) {
  out->set_state(static_cast<std::uint32_t>(end.state));
  out->set_exit_code(end.exit_code);
  out->set_signal(end.signal);
  if (!end.reason.empty()) out->set_reason(Clean(end.reason));
  out->set_leftovers(end.leftovers);
  out->set_started_ms(end.started.ms);
  out->set_ended_ms(end.ended.ms);
  if (end.log) Put(*end.log, out->mutable_log());
  out->set_peak_memory(end.peak_memory);
  for (const auto& [key, value] : end.outputs) {
    auto* pair = out->add_outputs();
    pair->set_key(key);
    pair->set_value(Clean(value));
  }
}

void Put(const Command& command, wire::Command* out) {
  for (const auto& word : command.argv) out->add_argv(word);
  out->set_script(command.script);
  out->set_interpreter(Clean(command.interpreter));
  for (const auto& word : command.args) out->add_args(word);
  out->set_stdin_data(command.stdin_data);
  for (const auto& [key, value] : command.env) {
    auto* var = out->add_env();
    var->set_key(Clean(key));
    var->set_value(value);
  }
  for (const auto& mask : command.masks) out->add_masks(mask);
  out->set_user(Clean(command.user));
  out->set_folder(Clean(command.folder));
  out->set_timeout_ms(command.timeout.count());
  out->set_grace_ms(command.grace.count());
  out->set_max_output(command.max_output);
  out->set_kill_leftovers(command.kill_leftovers);
  PutActions(command, out);
  if (!command.resources.Any()) return;
  out->mutable_resources()->set_memory(command.resources.memory);
  out->mutable_resources()->set_cpu(command.resources.cpu);
  out->mutable_resources()->set_processes(command.resources.processes);
}

void Put(const TermTicket& ticket, wire::TermTicket* out) {
  out->set_cluster(Clean(ticket.cluster));
  out->set_term(ticket.term.value);
  out->set_leader(Clean(ticket.leader));
  out->set_signature(ticket.signature);
}

TermTicket Take(const wire::TermTicket& in) {
  return {.cluster = in.cluster(),
          .term = Term(in.term()),
          .leader = in.leader(),
          .signature = in.signature()};
}

TaskKey Take(const wire::TaskKey& in) {
  return {.run = RunId(in.run()),
          .visit = Visit(in.visit()),
          .ordinal = in.ordinal(),
          .host = HostId(in.host()),
          .attempt = Attempt(in.attempt())};
}

Result<LogTotals> Take(const wire::LogTotals& in) {
  if (in.bytes() > kMaxOffset || in.dropped() > kMaxOffset)
    return Fail(ErrorCode::kInvalid, "link: an output of {} and {} dropped bytes", in.bytes(),
                in.dropped());
  auto out_hash = TakeHash(in.stdout_sha256());
  if (!out_hash) return Fail(out_hash.error());
  auto err_hash = TakeHash(in.stderr_sha256());
  if (!err_hash) return Fail(err_hash.error());
  auto masked_hash = TakeMaskedHash(in.masked_sha256());
  if (!masked_hash) return Fail(masked_hash.error());
  return LogTotals{.bytes = in.bytes(),
                   .dropped = in.dropped(),
                   .gap = in.gap(),
                   .stdout_sha256 = std::move(*out_hash),
                   .stderr_sha256 = std::move(*err_hash),
                   .masked_sha256 = std::move(*masked_hash)};
}

Result<TaskEnd> Take(const wire::TaskEnd& in) {
  if (!IsEndState(in.state()))
    return Fail(ErrorCode::kInvalid, "link: {} is not a state a task ends in", in.state());
  auto started = TakeTime(in.started_ms());
  if (!started) return Fail(started.error());
  auto ended = TakeTime(in.ended_ms());
  if (!ended) return Fail(ended.error());
  TaskEnd end{.state = static_cast<TaskState>(in.state()),
              .exit_code = in.exit_code(),
              .signal = in.signal(),
              .reason = in.reason(),
              .leftovers = in.leftovers(),
              .peak_memory = in.peak_memory(),
              .started = *started,
              .ended = *ended,
              .log = {}};
  if (in.has_log()) {
    auto log = Take(in.log());
    if (!log) return Fail(log.error());
    end.log = std::move(*log);
  }
  auto outputs = TakeOutputs(in.outputs());
  if (!outputs) return Fail(outputs.error());
  end.outputs = std::move(*outputs);
  return end;
}

Result<Command> Take(const wire::Command& in) {
  auto timeout = TakeDuration(in.timeout_ms());
  if (!timeout) return Fail(timeout.error());
  auto grace = TakeDuration(in.grace_ms());
  if (!grace) return Fail(grace.error());
  Command command{.argv = {in.argv().begin(), in.argv().end()},
                  .script = in.script(),
                  .interpreter = in.interpreter(),
                  .args = {in.args().begin(), in.args().end()},
                  .stdin_data = in.stdin_data(),
                  .env = {},
                  .masks = {in.masks().begin(), in.masks().end()},
                  .user = in.user(),
                  .folder = in.folder(),
                  .timeout = *timeout,
                  .grace = *grace,
                  .max_output = in.max_output(),
                  .kill_leftovers = in.kill_leftovers(),
                  .resources = {.memory = in.resources().memory(),
                                .cpu = in.resources().cpu(),
                                .processes = in.resources().processes()}};
  for (const auto& var : in.env()) command.env.emplace_back(var.key(), var.value());
  if (auto taken = TakeActions(in, &command); !taken) return Fail(taken.error());
  return command;
}

Result<WallTime> TakeTime(std::int64_t ms) {
  if (ms < -kLastMs || ms > kLastMs)
    return Fail(ErrorCode::kInvalid, "link: {} ms is no moment of a calendar", ms);
  return WallTime{ms};
}

Result<Duration> TakeDuration(std::int64_t ms) {
  if (ms < 0 || ms > kLongestMs)
    return Fail(ErrorCode::kInvalid, "link: {} ms is negative or more than ten years", ms);
  return Duration(ms);
}

Result<> Parse(std::string_view bytes, google::protobuf::MessageLite* out) {
  // Protobuf writes to stderr what it refuses; a peer must not fill our log, and we say it
  // ourselves.
  [[maybe_unused]] static const auto kLoud = google::protobuf::SetLogHandler(nullptr);
  if (bytes.size() > kMaxFrameBytes)
    return Fail(ErrorCode::kInvalid, "link: {} bytes; at most {} are taken", bytes.size(),
                kMaxFrameBytes);
  if (!out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Fail(ErrorCode::kInvalid, "link: {} bytes that are no {}", bytes.size(),
                out->GetTypeName());
  return {};
}

std::string Serialize(const google::protobuf::MessageLite& message) {
  std::string bytes;
  message.SerializePartialToString(&bytes);
  return bytes;
}

}  // namespace muster::link::codec
