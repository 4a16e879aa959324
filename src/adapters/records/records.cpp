#include "adapters/records/records.hpp"

#include "records.pb.h"

#include "adapters/records/compress.hpp"
#include "link/codec/codec.hpp"

namespace muster::records {
namespace {

namespace wire = muster::records::v1;

Result<> Parse(std::string_view blob, google::protobuf::MessageLite* out) {
  if (!out->ParseFromArray(blob.data(), static_cast<int>(blob.size())))
    return Fail(ErrorCode::kInternal, "record: {} bytes that are no {}", blob.size(),
                out->GetTypeName());
  return {};
}

template <typename Enum>
Result<Enum> TakeEnum(std::uint32_t number, Enum last) {
  if (number > static_cast<std::uint32_t>(last))
    return Fail(ErrorCode::kInternal,
                "record: unknown state {}; was it written by a newer musterd?", number);
  return static_cast<Enum>(number);
}

template <typename Pairs>
void PutLabels(const Labels& labels, Pairs* out) {
  for (const auto& [key, value] : labels) {
    auto* pair = out->Add();
    pair->set_key(key);
    pair->set_value(value);
  }
}

template <typename Pairs>
Labels TakeLabels(const Pairs& pairs) {
  Labels labels;
  for (const auto& pair : pairs) labels.emplace(pair.key(), pair.value());
  return labels;
}

void PutShare(const HostShare& share, wire::HostShare* out) {
  out->set_number(share.number);
  out->set_percent(share.percent);
}

HostShare TakeShare(const wire::HostShare& in) {
  return {.number = in.number(), .percent = in.percent()};
}

void PutWish(const StopWish& wish, wire::StopWish* out) {
  out->set_by(wish.by);
  out->set_at_ms(wish.at.ms);
  out->set_reason(wish.reason);
  out->set_grace_ms(wish.grace.count());
}

StopWish TakeWish(const wire::StopWish& in) {
  return {
      .by = in.by(), .at = {in.at_ms()}, .reason = in.reason(), .grace = Duration(in.grace_ms())};
}

void PutSpec(const StageSpec& spec, wire::StageSpec* out) {
  out->set_name(spec.name);
  if (spec.command) out->set_command(link::EncodeCommand(*spec.command));
  out->set_concurrency(spec.concurrency);
  for (const auto& size : spec.batches.sizes) PutShare(size, out->mutable_batches()->add_sizes());
  PutShare(spec.batches.add, out->mutable_batches()->mutable_add());
  out->mutable_batches()->set_factor(spec.batches.factor);
  PutShare(spec.max_failures, out->mutable_max_failures());
  out->set_wait_offline_ms(spec.wait_offline.count());
}

Result<StageSpec> TakeSpec(const wire::StageSpec& in) {
  auto command = link::DecodeCommand(in.command());
  if (!command) return Fail(ErrorCode::kInternal, "record: {}", command.error().message);
  StageSpec spec;
  spec.name = in.name();
  spec.command = std::make_shared<const Command>(std::move(*command));
  spec.concurrency = in.concurrency();
  for (const auto& size : in.batches().sizes()) spec.batches.sizes.push_back(TakeShare(size));
  spec.batches.add = TakeShare(in.batches().add());
  spec.batches.factor = in.batches().factor();
  spec.max_failures = TakeShare(in.max_failures());
  spec.wait_offline = Duration(in.wait_offline_ms());
  return spec;
}

void PutStage(const Stage& stage, wire::Stage* out) {
  out->set_visit(stage.visit.value);
  out->set_index(stage.index);
  out->set_state(static_cast<std::uint32_t>(stage.state));
  out->set_started_ms(stage.started.ms);
  out->set_ended_ms(stage.ended.ms);
  for (const auto count : stage.counts.by_state) out->add_counts(count);
}

Result<Stage> TakeStage(const wire::Stage& in) {
  auto state = TakeEnum(in.state(), StageState::kSkipped);
  if (!state) return Fail(state.error());
  Stage stage{.visit = Visit(in.visit()),
              .index = in.index(),
              .state = *state,
              .started = {in.started_ms()},
              .ended = {in.ended_ms()},
              .counts = {}};
  for (int i = 0; i < in.counts_size() && i < static_cast<int>(kTaskStates); ++i)
    stage.counts.by_state[static_cast<std::size_t>(i)] = in.counts(i);
  return stage;
}

void PutHash(const std::string& hash, std::string* bytes, bool* silent) {
  *silent = hash == kEmptySha256;
  if (!*silent) *bytes = hash;
}

}  // namespace

std::string EncodeHost(const Host& host) {
  wire::Host out;
  out.set_id(host.id.value);
  out.set_name(host.name);
  out.set_key(host.key);
  out.set_state(static_cast<std::uint32_t>(host.state));
  out.set_note(host.note);
  PutLabels(host.labels, out.mutable_labels());
  PutLabels(host.facts, out.mutable_facts());
  out.set_store(host.store);
  out.set_boot(host.boot);
  out.set_session(host.session);
  out.set_joined_ms(host.joined.ms);
  out.set_last_hello_ms(host.last_hello.ms);
  return out.SerializeAsString();
}

Result<Host> DecodeHost(std::string_view blob) {
  wire::Host in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  auto state = TakeEnum(in.state(), HostState::kRevoked);
  if (!state) return Fail(state.error());
  return Host{.id = HostId(in.id()),
              .name = in.name(),
              .key = in.key(),
              .state = *state,
              .note = in.note(),
              .labels = TakeLabels(in.labels()),
              .facts = TakeLabels(in.facts()),
              .store = in.store(),
              .boot = in.boot(),
              .session = in.session(),
              .joined = {in.joined_ms()},
              .last_hello = {in.last_hello_ms()}};
}

std::string EncodeInvite(const Invite& invite) {
  wire::Invite out;
  out.set_id(invite.id);
  out.set_uses_left(invite.uses_left);
  out.set_expires_ms(invite.expires.ms);
  out.set_replace(invite.replace);
  PutLabels(invite.labels, out.mutable_labels());
  out.set_created_by(invite.created_by);
  out.set_created_ms(invite.created.ms);
  out.set_names(invite.names);
  return out.SerializeAsString();
}

Result<Invite> DecodeInvite(std::string_view blob) {
  wire::Invite in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return Invite{.id = in.id(),
                .uses_left = in.uses_left(),
                .expires = {in.expires_ms()},
                .replace = in.replace(),
                .labels = TakeLabels(in.labels()),
                .created_by = in.created_by(),
                .created = {in.created_ms()},
                .names = in.names()};
}

std::string EncodePending(const PendingJoin& pending) {
  wire::PendingJoin out;
  out.set_name(pending.name);
  out.set_key(pending.key);
  out.set_invite(pending.invite);
  PutLabels(pending.labels, out.mutable_labels());
  PutLabels(pending.invited, out.mutable_invited());
  out.set_address(pending.address);
  out.set_since_ms(pending.since.ms);
  out.set_rejected(pending.rejected);
  return out.SerializeAsString();
}

Result<PendingJoin> DecodePending(std::string_view blob) {
  wire::PendingJoin in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return PendingJoin{.name = in.name(),
                     .key = in.key(),
                     .invite = in.invite(),
                     .labels = TakeLabels(in.labels()),
                     .invited = TakeLabels(in.invited()),
                     .address = in.address(),
                     .since = {in.since_ms()},
                     .rejected = in.rejected()};
}

std::string EncodeRun(const Run& run) {
  wire::Run out;
  out.set_id(run.id.value);
  out.set_state(static_cast<std::uint32_t>(run.state));
  out.set_pass(run.pass);
  out.set_by(run.by);
  out.set_title(run.spec.title);
  out.set_targets(run.spec.targets);
  for (const auto& spec : run.spec.stages) PutSpec(spec, out.add_specs());
  out.set_hosts(run.hosts);
  out.set_created_ms(run.created.ms);
  out.set_ended_ms(run.ended.ms);
  if (run.stop) PutWish(*run.stop, out.mutable_stop());
  out.set_reason(run.reason);
  for (const auto& stage : run.stages) PutStage(stage, out.add_stages());
  return Pack(out.SerializeAsString());
}

Result<Run> DecodeRun(std::string_view blob) {
  auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  wire::Run in;
  if (auto parsed = Parse(*raw, &in); !parsed) return Fail(parsed.error());
  auto state = TakeEnum(in.state(), RunState::kCancelled);
  if (!state) return Fail(state.error());
  Run run;
  run.id = RunId(in.id());
  run.state = *state;
  run.pass = in.pass();
  run.by = in.by();
  run.spec.title = in.title();
  run.spec.targets = in.targets();
  for (const auto& item : in.specs()) {
    auto spec = TakeSpec(item);
    if (!spec) return Fail(spec.error());
    run.spec.stages.push_back(std::move(*spec));
  }
  run.hosts = in.hosts();
  run.created = {in.created_ms()};
  run.ended = {in.ended_ms()};
  if (in.has_stop()) run.stop = TakeWish(in.stop());
  run.reason = in.reason();
  for (const auto& item : in.stages()) {
    auto stage = TakeStage(item);
    if (!stage) return Fail(stage.error());
    run.stages.push_back(*stage);
  }
  return run;
}

std::string EncodeTargets(const Targets& targets) {
  wire::Targets out;
  for (const auto& target : targets) {
    out.add_hosts(target.host.value);
    out.add_names(target.name);
  }
  return Pack(out.SerializeAsString());
}

Result<std::shared_ptr<const Targets>> DecodeTargets(std::string_view blob) {
  auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  wire::Targets in;
  if (auto parsed = Parse(*raw, &in); !parsed) return Fail(parsed.error());
  if (in.hosts_size() != in.names_size())
    return Fail(ErrorCode::kInternal, "record: {} targets with {} names", in.hosts_size(),
                in.names_size());
  auto targets = std::make_shared<Targets>();
  targets->reserve(static_cast<std::size_t>(in.hosts_size()));
  for (int i = 0; i < in.hosts_size(); ++i)
    targets->push_back({.host = HostId(in.hosts(i)), .name = in.names(i)});
  return targets;
}

std::string EncodeWish(const StopWish& wish) {
  wire::StopWish out;
  PutWish(wish, &out);
  return out.SerializeAsString();
}

Result<StopWish> DecodeWish(std::string_view blob) {
  wire::StopWish in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return TakeWish(in);
}

std::string EncodeTaskRest(const TaskRecord& task) {
  if (!task.end && !task.late && task.reason.empty() && !task.stop_wished &&
      task.log.stdout_sha256.empty() && task.log.stderr_sha256.empty())
    return {};
  wire::TaskRest out;
  if (task.end) out.set_end(link::EncodeTaskEnd(*task.end));
  if (task.late) out.set_late(link::EncodeTaskEnd(*task.late));
  out.set_reason(task.reason);
  out.set_stop_wished(task.stop_wished);
  bool silent = false;
  PutHash(task.log.stdout_sha256, out.mutable_stdout_sha256(), &silent);
  out.set_stdout_silent(silent);
  PutHash(task.log.stderr_sha256, out.mutable_stderr_sha256(), &silent);
  out.set_stderr_silent(silent);
  return out.SerializeAsString();
}

Result<> DecodeTaskRest(std::string_view blob, TaskRecord* task) {
  if (blob.empty()) return {};
  wire::TaskRest in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  const auto take_end = [](const std::string& bytes, std::optional<TaskEnd>* out) -> Result<> {
    if (bytes.empty()) return {};
    auto end = link::DecodeTaskEnd(bytes);
    if (!end) return Fail(ErrorCode::kInternal, "record: {}", end.error().message);
    *out = std::move(*end);
    return {};
  };
  if (auto taken = take_end(in.end(), &task->end); !taken) return taken;
  if (auto taken = take_end(in.late(), &task->late); !taken) return taken;
  task->reason = in.reason();
  task->stop_wished = in.stop_wished();
  task->log.stdout_sha256 = in.stdout_silent() ? kEmptySha256 : in.stdout_sha256();
  task->log.stderr_sha256 = in.stderr_silent() ? kEmptySha256 : in.stderr_sha256();
  return {};
}

}  // namespace muster::records
