#include <limits>

#include "adapters/records/parts.hpp"
#include "link/codec/codec.hpp"

namespace muster::records {
namespace {

void PutApprove(const ApproveAction& approve, wire::Approve* out) {
  out->set_message(approve.message);
  for (const auto& by : approve.by) out->add_by(by);
  out->set_not_starter(approve.not_starter);
  out->set_timeout_ms(approve.timeout.count());
}

ApproveAction TakeApprove(const wire::Approve& in) {
  return {.message = in.message(),
          .by = {in.by().begin(), in.by().end()},
          .not_starter = in.not_starter(),
          .timeout = Duration(in.timeout_ms())};
}

void Put(const HostAction& command, wire::StageSpec* out) {
  if (command) out->set_command(link::EncodeCommand(*command));
}

void Put(const SequenceAction&, wire::StageSpec* out) { out->mutable_sequence(); }

void Put(const ApproveAction& approve, wire::StageSpec* out) {
  PutApprove(approve, out->mutable_approve());
}

void Put(const WaitAction& wait, wire::StageSpec* out) {
  out->mutable_wait()->set_time_ms(wait.time.count());
  out->mutable_wait()->set_until(wait.until);
}

void PutHttp(const HttpAction& http, wire::Http* out) {
  out->set_method(http.method);
  out->set_url(http.url);
  PutPairs(http.headers, out->mutable_headers());
  out->set_body(http.body);
  for (const auto status : http.expect) out->add_expect(status);
  PutPairs(http.outputs, out->mutable_outputs());
  out->set_timeout_ms(http.timeout.count());
}

void Put(const HttpAction& http, wire::StageSpec* out) { PutHttp(http, out->mutable_http()); }

void Put(const ConditionAction& condition, wire::StageSpec* stage) {
  auto* out = stage->mutable_condition();
  PutHttp(condition.request, out->mutable_request());
  out->set_value(condition.value);
  out->set_comparison(static_cast<std::uint32_t>(condition.comparison));
  out->set_bound(condition.bound);
  out->set_hold_ms(condition.hold.count());
  out->set_missing(static_cast<std::uint32_t>(condition.missing));
}

void Put(const NotifyAction& notify, wire::StageSpec* out) {
  out->mutable_notify()->set_channel(notify.channel);
  out->mutable_notify()->set_message(notify.message);
}

void Put(const JobAction& job, wire::StageSpec* out) {
  out->mutable_job()->set_job(job.job);
  PutPairs(job.params, out->mutable_job()->mutable_params());
  out->mutable_job()->set_wait(job.wait);
}

Result<Action> TakeCommand(const std::string& bytes) {
  auto command = link::DecodeCommand(bytes);
  if (!command) return Fail(ErrorCode::kInternal, "record: {}", command.error().message);
  return Action(std::make_shared<const Command>(std::move(*command)));
}

Result<HttpAction> TakeHttp(const wire::Http& in) {
  HttpAction http{.method = in.method(),
                  .url = in.url(),
                  .headers = {},
                  .body = in.body(),
                  .expect = {},
                  .outputs = TakePairs(in.outputs()),
                  .timeout = Duration(in.timeout_ms())};
  for (const auto& header : in.headers()) http.headers.emplace_back(header.key(), header.value());
  for (const auto status : in.expect()) {
    if (status > std::numeric_limits<std::uint16_t>::max())
      return Fail(ErrorCode::kInternal, "record: {} is no status of HTTP", status);
    http.expect.push_back(static_cast<std::uint16_t>(status));
  }
  return http;
}

Result<Action> TakeCondition(const wire::Condition& in) {
  auto request = TakeHttp(in.request());
  auto comparison = TakeEnum(in.comparison(), Comparison::kDiffers);
  auto missing = TakeEnum(in.missing(), MissingValue::kFiring);
  if (!request) return Fail(request.error());
  if (!comparison) return Fail(comparison.error());
  if (!missing) return Fail(missing.error());
  return Action(ConditionAction{.request = std::move(*request),
                                .value = in.value(),
                                .comparison = *comparison,
                                .bound = in.bound(),
                                .hold = Duration(in.hold_ms()),
                                .missing = *missing});
}

Result<Action> TakeAction(const wire::StageSpec& in) {
  switch (in.action_case()) {
    case wire::StageSpec::kApprove:
      return Action(TakeApprove(in.approve()));
    case wire::StageSpec::kWait:
      return Action(WaitAction{.time = Duration(in.wait().time_ms()), .until = in.wait().until()});
    case wire::StageSpec::kHttp: {
      auto http = TakeHttp(in.http());
      if (!http) return Fail(http.error());
      return Action(std::move(*http));
    }
    case wire::StageSpec::kCondition:
      return TakeCondition(in.condition());
    case wire::StageSpec::kNotify:
      return Action(
          NotifyAction{.channel = in.notify().channel(), .message = in.notify().message()});
    case wire::StageSpec::kJob:
      return Action(JobAction{
          .job = in.job().job(), .params = TakePairs(in.job().params()), .wait = in.job().wait()});
    case wire::StageSpec::kSequence:
      return Action(SequenceAction());
    case wire::StageSpec::ACTION_NOT_SET:
      return TakeCommand(in.command());
  }
  return TakeCommand(in.command());
}

void PutFlow(const StageSpec& spec, wire::StageSpec* out) {
  out->set_section(static_cast<std::uint32_t>(spec.section));
  if (spec.parent) out->set_parent(*spec.parent);
  out->set_hosts(static_cast<std::uint32_t>(spec.hosts));
  out->set_when(spec.when);
  if (spec.needs) {
    auto* needs = out->mutable_needs();
    for (const auto stage : *spec.needs) needs->add_stages(stage);
  }
  for (const auto& [on, stage] : spec.next) {
    auto* next = out->add_next();
    next->set_on(on);
    next->set_stage(stage);
  }
  out->set_max_visits(spec.max_visits);
  out->set_recovers(spec.recovers);
  out->mutable_retries()->set_max(spec.retries.max);
  out->mutable_retries()->set_backoff_ms(spec.retries.backoff.count());
  out->set_repeat(static_cast<std::uint32_t>(spec.repeat));
}

// What is not there keeps its default: stages of older records say nothing of the flow.
Result<> TakeFlow(const wire::StageSpec& in, StageSpec* spec) {
  auto section = TakeEnum(in.section(), Section::kBetween);
  auto hosts = TakeEnum(in.hosts(), HostChoice::kAll);
  auto repeat = TakeEnum(in.repeat(), Repeat::kSafe);
  if (!section) return Fail(section.error());
  if (!hosts) return Fail(hosts.error());
  if (!repeat) return Fail(repeat.error());
  spec->section = *section;
  spec->hosts = *hosts;
  spec->repeat = *repeat;
  if (in.has_parent()) spec->parent = in.parent();
  spec->when = in.when();
  if (in.has_needs()) spec->needs.emplace(in.needs().stages().begin(), in.needs().stages().end());
  for (const auto& next : in.next()) spec->next.emplace(next.on(), next.stage());
  if (in.has_max_visits()) spec->max_visits = in.max_visits();
  spec->recovers = in.recovers();
  if (in.has_retries())
    spec->retries = {.max = in.retries().max(), .backoff = Duration(in.retries().backoff_ms())};
  return {};
}

void PutPace(const StageSpec& spec, wire::StageSpec* out) {
  out->set_concurrency(spec.concurrency);
  for (const auto& size : spec.batches.sizes) PutShare(size, out->mutable_batches()->add_sizes());
  PutShare(spec.batches.add, out->mutable_batches()->mutable_add());
  out->mutable_batches()->set_factor(spec.batches.factor);
  out->set_between_wait_ms(spec.between_wait.count());
  if (spec.between_approve) PutApprove(*spec.between_approve, out->mutable_between_approve());
  PutShare(spec.max_failures, out->mutable_max_failures());
  if (spec.max_unreachable) PutShare(*spec.max_unreachable, out->mutable_max_unreachable());
  out->set_on_limit(static_cast<std::uint32_t>(spec.on_limit));
  out->set_spread_ms(spec.spread.count());
  out->set_wait_offline_ms(spec.wait_offline.count());
  PutLimits(spec.limits, out->mutable_limits());
}

Result<> TakePace(const wire::StageSpec& in, StageSpec* spec) {
  auto on_limit = TakeEnum(in.on_limit(), OnLimit::kPause);
  if (!on_limit) return Fail(on_limit.error());
  spec->on_limit = *on_limit;
  spec->concurrency = in.concurrency();
  for (const auto& size : in.batches().sizes()) spec->batches.sizes.push_back(TakeShare(size));
  spec->batches.add = TakeShare(in.batches().add());
  spec->batches.factor = in.batches().factor();
  spec->between_wait = Duration(in.between_wait_ms());
  if (in.has_between_approve()) spec->between_approve = TakeApprove(in.between_approve());
  spec->max_failures = TakeShare(in.max_failures());
  if (in.has_max_unreachable()) spec->max_unreachable = TakeShare(in.max_unreachable());
  spec->spread = Duration(in.spread_ms());
  spec->wait_offline = Duration(in.wait_offline_ms());
  spec->limits = TakeLimits(in.limits());
  return {};
}

}  // namespace

void PutStageSpec(const StageSpec& spec, wire::StageSpec* out) {
  out->set_name(spec.name);
  std::visit([out](const auto& action) { Put(action, out); }, spec.action);
  PutFlow(spec, out);
  PutPace(spec, out);
}

Result<StageSpec> TakeStageSpec(const wire::StageSpec& in) {
  auto action = TakeAction(in);
  if (!action) return Fail(action.error());
  StageSpec spec;
  spec.name = in.name();
  spec.action = std::move(*action);
  if (auto taken = TakeFlow(in, &spec); !taken) return Fail(taken.error());
  if (auto taken = TakePace(in, &spec); !taken) return Fail(taken.error());
  return spec;
}

}  // namespace muster::records
