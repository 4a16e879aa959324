#include "adapters/records/records.hpp"

#include "adapters/records/compress.hpp"
#include "adapters/records/parts.hpp"
#include "link/codec/codec.hpp"

namespace muster::records {
namespace {

void PutHash(const std::string& hash, std::string* bytes, bool* silent) {
  *silent = hash == kEmptySha256;
  if (!*silent) *bytes = hash;
}

Maintenance TakeMaintenance(const wire::Maintenance& in) {
  return {.until = {in.until_ms()}, .reason = in.reason(), .by = in.by(), .at = {in.at_ms()}};
}

}  // namespace

std::string EncodeHost(const Host& host) {
  wire::Host out;
  out.set_id(host.id.value);
  out.set_name(host.name);
  out.set_key(host.key);
  out.set_state(static_cast<std::uint32_t>(host.state));
  out.set_note(host.note);
  PutPairs(host.labels, out.mutable_labels());
  PutPairs(host.facts, out.mutable_facts());
  out.set_store(host.store);
  out.set_boot(host.boot);
  out.set_session(host.session);
  out.set_joined_ms(host.joined.ms);
  out.set_last_hello_ms(host.last_hello.ms);
  if (host.maintenance) {
    auto* maintenance = out.mutable_maintenance();
    maintenance->set_until_ms(host.maintenance->until.ms);
    maintenance->set_reason(host.maintenance->reason);
    maintenance->set_by(host.maintenance->by);
    maintenance->set_at_ms(host.maintenance->at.ms);
  }
  for (const auto& name : host.own_labels) out.add_own_labels(name);
  out.set_invite(host.invite);
  out.set_certified_ms(host.certified.ms);
  out.set_certificates(host.certificates);
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
              .labels = TakePairs<Labels>(in.labels()),
              .facts = TakePairs<Labels>(in.facts()),
              .store = in.store(),
              .boot = in.boot(),
              .session = in.session(),
              .joined = {in.joined_ms()},
              .last_hello = {in.last_hello_ms()},
              .maintenance = in.has_maintenance() ? std::optional(TakeMaintenance(in.maintenance()))
                                                  : std::nullopt,
              .own_labels = {in.own_labels().begin(), in.own_labels().end()},
              .invite = in.invite(),
              .certified = {in.certified_ms()},
              .certificates = in.certificates()};
}

std::string EncodeFreeze(const Freeze& freeze) {
  wire::Freeze out;
  out.set_id(freeze.id);
  out.set_scope(static_cast<std::uint32_t>(freeze.scope));
  out.set_targets(freeze.targets);
  out.set_job(freeze.job);
  out.set_reason(freeze.reason);
  out.set_by(freeze.by);
  out.set_at_ms(freeze.at.ms);
  out.set_until_ms(freeze.until.ms);
  return out.SerializeAsString();
}

Result<Freeze> DecodeFreeze(std::string_view blob) {
  wire::Freeze in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  auto scope = TakeEnum(in.scope(), FreezeScope::kAll);
  if (!scope) return Fail(scope.error());
  return Freeze{.id = in.id(),
                .scope = *scope,
                .targets = in.targets(),
                .job = in.job(),
                .reason = in.reason(),
                .by = in.by(),
                .at = {in.at_ms()},
                .until = {in.until_ms()}};
}

std::string EncodeInvite(const Invite& invite) {
  wire::Invite out;
  out.set_id(invite.id);
  out.set_uses_left(invite.uses_left);
  out.set_expires_ms(invite.expires.ms);
  out.set_replace(invite.replace);
  PutPairs(invite.labels, out.mutable_labels());
  out.set_created_by(invite.created_by);
  out.set_created_ms(invite.created.ms);
  out.set_names(invite.names);
  out.set_server(invite.server);
  out.set_no_own_labels(invite.no_own_labels);
  out.set_server_name(invite.server_name);
  out.set_server_key(invite.server_key);
  out.set_answers(invite.answers);
  out.set_answered_ms(invite.answered.ms);
  out.set_given(invite.given);
  return out.SerializeAsString();
}

Result<Invite> DecodeInvite(std::string_view blob) {
  wire::Invite in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return Invite{.id = in.id(),
                .uses_left = in.uses_left(),
                .expires = {in.expires_ms()},
                .replace = in.replace(),
                .labels = TakePairs<Labels>(in.labels()),
                .created_by = in.created_by(),
                .created = {in.created_ms()},
                .names = in.names(),
                .server = in.server(),
                .no_own_labels = in.no_own_labels(),
                .server_name = in.server_name(),
                .server_key = in.server_key(),
                .answers = in.answers(),
                .answered = {in.answered_ms()},
                .given = in.given()};
}

std::string EncodePending(const PendingJoin& pending) {
  wire::PendingJoin out;
  out.set_name(pending.name);
  out.set_key(pending.key);
  out.set_invite(pending.invite);
  PutPairs(pending.labels, out.mutable_labels());
  PutPairs(pending.invited, out.mutable_invited());
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
                     .labels = TakePairs<Labels>(in.labels()),
                     .invited = TakePairs<Labels>(in.invited()),
                     .address = in.address(),
                     .since = {in.since_ms()},
                     .rejected = in.rejected()};
}

Result<std::string> EncodeTargets(const Targets& targets) {
  wire::Targets out;
  for (const auto& target : targets) {
    out.add_hosts(target.host.value);
    out.add_names(target.name);
  }
  return PackMessage(out);
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
      task.surely_over == Duration::zero() && !task.doubted && task.log.stdout_sha256.empty() &&
      task.log.stderr_sha256.empty() && task.log.masked_sha256.empty())
    return {};
  wire::TaskRest out;
  if (task.end) out.set_end(link::EncodeTaskEnd(*task.end));
  if (task.late) out.set_late(link::EncodeTaskEnd(*task.late));
  out.set_reason(task.reason);
  out.set_stop_wished(task.stop_wished);
  out.set_surely_over_ms(task.surely_over.count());
  out.set_doubted(task.doubted);
  bool silent = false;
  PutHash(task.log.stdout_sha256, out.mutable_stdout_sha256(), &silent);
  out.set_stdout_silent(silent);
  PutHash(task.log.stderr_sha256, out.mutable_stderr_sha256(), &silent);
  out.set_stderr_silent(silent);
  PutHash(task.log.masked_sha256, out.mutable_masked_sha256(), &silent);
  out.set_masked_silent(silent);
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
  task->surely_over = Duration(in.surely_over_ms());
  task->doubted = in.doubted();
  task->log.stdout_sha256 = in.stdout_silent() ? kEmptySha256 : in.stdout_sha256();
  task->log.stderr_sha256 = in.stderr_silent() ? kEmptySha256 : in.stderr_sha256();
  task->log.masked_sha256 = in.masked_silent() ? kEmptySha256 : in.masked_sha256();
  return {};
}

}  // namespace muster::records
