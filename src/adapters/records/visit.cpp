#include <limits>

#include "adapters/records/compress.hpp"
#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"

namespace muster::records {
namespace {

void PutOrdinals(const Ordinals& set, wire::Ordinals* out) {
  std::uint32_t at = 0;
  for (const auto& [first, last] : set.Ranges()) {
    out->add_steps(first - at);
    out->add_steps(last - first);
    at = last;
  }
}

Result<Ordinals> TakeOrdinals(const wire::Ordinals& in) {
  std::vector<Ordinals::Range> ranges;
  std::uint64_t at = 0;
  for (int i = 0; i + 1 < in.steps_size(); i += 2) {
    const std::uint64_t first = at + in.steps(i);
    at = first + in.steps(i + 1);
    if (at > std::numeric_limits<std::uint32_t>::max())
      return Fail(ErrorCode::kInternal, "record: ordinals up to {}", at);
    ranges.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at));
  }
  auto set = Ordinals::OfRanges(std::move(ranges));
  if (!set) return Fail(ErrorCode::kInternal, "record: {}", set.error().message);
  return set;
}

void PutSets(const StageVisit& visit, wire::StageVisit* out) {
  PutOrdinals(visit.hosts, out->mutable_hosts());
  PutOrdinals(visit.dropped, out->mutable_dropped());
  PutOrdinals(visit.touched, out->mutable_touched());
  PutOrdinals(visit.batch_dropped, out->mutable_batch_dropped());
  for (const auto& set : visit.begins) PutOrdinals(set, out->add_begins());
  for (const auto& [state, hosts] : visit.results) {
    auto* result = out->add_results();
    result->set_state(static_cast<std::uint32_t>(state));
    PutOrdinals(hosts, result->mutable_hosts());
  }
}

Result<> TakeSets(const wire::StageVisit& in, StageVisit* visit) {
  const std::pair<const wire::Ordinals&, Ordinals*> sets[] = {
      {in.hosts(), &visit->hosts},
      {in.dropped(), &visit->dropped},
      {in.touched(), &visit->touched},
      {in.batch_dropped(), &visit->batch_dropped}};
  for (const auto& [from, to] : sets) {
    auto set = TakeOrdinals(from);
    if (!set) return Fail(set.error());
    *to = std::move(*set);
  }
  for (const auto& item : in.begins()) {
    auto set = TakeOrdinals(item);
    if (!set) return Fail(set.error());
    visit->begins.push_back(std::move(*set));
  }
  for (const auto& item : in.results()) {
    auto state = TakeEnum(item.state(), TaskState::kSkipped);
    if (!state) return Fail(state.error());
    auto set = TakeOrdinals(item.hosts());
    if (!set) return Fail(set.error());
    visit->results.emplace_back(*state, std::move(*set));
  }
  return {};
}

void PutProgress(const StageVisit& visit, wire::StageVisit* out) {
  out->set_phase(static_cast<std::uint32_t>(visit.phase));
  out->set_batch(visit.batch);
  out->set_batch_begin(visit.batch_begin);
  out->set_batch_end(visit.batch_end);
  out->set_inner(visit.inner);
  out->set_batch_failures(visit.batch_failures);
  out->set_batch_unreachable(visit.batch_unreachable);
  out->set_batch_accepted(visit.batch_accepted);
  out->set_until_ms(visit.until.ms);
  out->set_message(visit.message);
  out->set_child(visit.child.value);
  if (!visit.decision) return;
  auto* decision = out->mutable_decision();
  decision->set_approved(visit.decision->approved);
  decision->set_by(visit.decision->by);
  decision->set_at_ms(visit.decision->at.ms);
  decision->set_comment(visit.decision->comment);
}

void TakeProgress(const wire::StageVisit& in, StageVisit* visit) {
  visit->batch = in.batch();
  visit->batch_begin = in.batch_begin();
  visit->batch_end = in.batch_end();
  visit->inner = in.inner();
  visit->batch_failures = in.batch_failures();
  visit->batch_unreachable = in.batch_unreachable();
  visit->batch_accepted = in.batch_accepted();
  visit->until = {in.until_ms()};
  visit->message = in.message();
  visit->child = RunId(in.child());
  if (!in.has_decision()) return;
  visit->decision = Decision{.approved = in.decision().approved(),
                             .by = in.decision().by(),
                             .at = {in.decision().at_ms()},
                             .comment = in.decision().comment()};
}

}  // namespace

Result<std::string> EncodeVisit(const StageVisit& visit) {
  wire::StageVisit out;
  out.set_visit(visit.visit.value);
  out.set_stage(visit.stage);
  out.set_name(visit.name);
  out.set_pass(visit.pass);
  out.set_parent(visit.parent.value);
  out.set_from(visit.from.value);
  out.set_state(static_cast<std::uint32_t>(visit.state));
  out.set_recovers(visit.recovers);
  out.set_onward(static_cast<std::uint32_t>(visit.onward));
  out.set_in_finally(visit.in_finally);
  out.set_in_graph(visit.needs.has_value());
  if (visit.needs)
    for (const Visit need : *visit.needs) out.add_needs(need.value);
  out.set_started_ms(visit.started.ms);
  out.set_ended_ms(visit.ended.ms);
  PutSets(visit, &out);
  PutCounts(visit.counts, out.mutable_counts());
  out.set_status(visit.status);
  out.set_reason(visit.reason);
  PutProgress(visit, &out);
  return PackMessage(out);
}

Result<StageVisit> DecodeVisit(std::string_view blob) {
  auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  wire::StageVisit in;
  if (auto parsed = Parse(*raw, &in); !parsed) return Fail(parsed.error());
  auto state = TakeEnum(in.state(), StageState::kAwaitingApproval);
  auto phase = TakeEnum(in.phase(), VisitPhase::kApprove);
  auto onward = TakeEnum(in.onward(), Onward::kNone);
  if (!state || !phase) return Fail(state ? phase.error() : state.error());
  if (!onward) return Fail(onward.error());
  StageVisit visit;
  visit.visit = Visit(in.visit());
  visit.stage = in.stage();
  visit.name = in.name();
  visit.pass = in.pass();
  visit.parent = Visit(in.parent());
  visit.from = Visit(in.from());
  visit.state = *state;
  visit.recovers = in.recovers();
  visit.onward = *onward;
  visit.in_finally = in.in_finally();
  if (in.in_graph()) {
    visit.needs.emplace();
    for (const std::uint32_t need : in.needs()) visit.needs->emplace_back(need);
  }
  visit.started = {in.started_ms()};
  visit.ended = {in.ended_ms()};
  visit.counts = TakeCounts(in.counts());
  visit.status = in.status();
  visit.reason = in.reason();
  visit.phase = *phase;
  TakeProgress(in, &visit);
  if (auto taken = TakeSets(in, &visit); !taken) return Fail(taken.error());
  return visit;
}

}  // namespace muster::records
