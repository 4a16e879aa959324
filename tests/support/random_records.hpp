#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "adapters/records/describe_documents.hpp"
#include "adapters/records/describe_hosts.hpp"
#include "adapters/records/describe_runs.hpp"
#include "adapters/records/describe_triggers.hpp"
#include "domain/records.hpp"
#include "domain/run_row.hpp"
#include "support/random_values.hpp"

namespace muster {

// Draws records with any content a store may meet: whatever is described for them
// (adapters/records/describe_*.hpp) is filled in.
class RandomRecords : public RandomValues {
 public:
  using RandomValues::RandomValues;

  template <records::Described T>
  T Some() {
    T record{};
    Fill(record);
    return record;
  }

  TaskRecord Task() {
    auto task = Some<TaskRecord>();
    task.key = Key();
    task.state = static_cast<TaskState>(Number(kTaskStates));
    task.sent = Time();
    task.ended = Time();
    task.store = Text();
    task.boot = Text();
    task.log.state = static_cast<LogState>(Number(5));
    task.log.bytes = Number(1 << 30);
    task.sent_commit = CommitNumber(Number(1ULL << 40));
    task.sent_term = Term(Number(1ULL << 40));
    task.ended_commit = CommitNumber(Number(1ULL << 40));
    task.ended_term = Term(Number(1ULL << 40));
    return task;
  }
  StopWish Wish() { return Some<StopWish>(); }
  KeyHold Hold() { return {.key = Text(3), .task = Key()}; }
  // With jobs that start jobs; two of them may start the same.
  RunSpec SomePlan(int levels = 2) {
    auto plan = Some<RunSpec>();
    std::shared_ptr<const RunSpec> job;
    for (std::size_t left = levels > 0 ? Number(3) : 0; left > 0; --left) {
      if (!job || Coin()) job = std::make_shared<const RunSpec>(SomePlan(levels - 1));
      plan.jobs[Text()] = job;
    }
    return plan;
  }
  StageVisit SomeVisit() {
    auto visit = Some<StageVisit>();
    visit.visit = Visit(1 + Small());
    return visit;
  }
  // Its spec is a whole plan, of which a row keeps a part.
  muster::Run SomeRun() {
    auto run = Some<muster::Run>();
    run.id = RunId(1 + Number(1000));
    run.spec = SomePlan();
    return run;
  }
  SlotRecord SomeSlot() { return Some<SlotRecord>(); }
  Trigger SomeTrigger() { return Some<Trigger>(); }
  Targets SomeTargets() {
    Targets targets(Number(300));
    for (auto& target : targets) target = {.host = HostId(1 + Number(20'000)), .name = Text()};
    return targets;
  }
  Host SomeHost() {
    auto host = Some<Host>();
    host.id = HostId(1 + Number(1000));
    return host;
  }
  Freeze SomeFreeze() {
    auto freeze = Some<Freeze>();
    freeze.id = 1 + Number(1000);
    return freeze;
  }
  Invite SomeInvite() {
    auto invite = Some<Invite>();
    invite.uses_left = Small(3);
    if (Coin()) invite.server_key.clear();
    return invite;
  }
  PendingJoin SomePending() { return Some<PendingJoin>(); }
  AuditEntry Audit() {
    return {.number = 1 + Number(1000),
            .at = Time(),
            .actor = Text(),
            .address = Text(),
            .client = Text(),
            .act = Text(),
            .object = Text(),
            .detail = Text(),
            .reason = Text(),
            .run = RunId(Number(1000)),
            .hosts = static_cast<std::uint32_t>(Number(20'000)),
            .names = Text(),
            .command = Text(60),
            .command_sha256 = Text(),
            .previous = Text(),
            .hash = Text()};
  }

  std::uint32_t Small(std::uint32_t below = 20) {
    return static_cast<std::uint32_t>(Number(below));
  }

 private:
  template <records::Described T>
  void Fill(T& record) {
    std::apply([&](const auto&... field) { (FillOne(field, record), ...); },
               records::Description<T>::kFields);
  }
  template <typename T, typename Member, typename Detail>
  void FillOne(const records::Field<Member, Detail>& field, T& record) {
    FillValue(std::invoke(field.member, record), field.detail);
  }
  template <typename T, typename Member>
  void FillOne(const records::HashField<Member>& field, T& record) {
    std::invoke(field.member, record) = Coin() ? "" : Hash();
  }
  void FillOne(const records::RowParams&, muster::Run&) {}
  template <typename T, typename Member, typename... Types>
  void FillOne(const records::Choice<Member, Types...>& choice, T& record) {
    std::size_t left = Number(sizeof...(Types));
    const auto fill = [&]<typename Held>(const records::Option<Held>&) {
      if (left-- != 0) return false;
      Held held{};
      FillValue(held, records::Plain());
      std::invoke(choice.member, record) = std::move(held);
      return true;
    };
    std::apply([&](const auto&... option) { (void)(fill(option) || ...); }, choice.options);
  }

  template <typename T, typename Detail>
  void FillValue(T& value, const Detail& detail) {
    if constexpr (std::same_as<T, Ordinals>)
      value = SomeOrdinals();
    else if constexpr (std::same_as<T, TaskCounts>)
      for (auto& count : value.by_state) count = Small(20'000);
    else if constexpr (std::same_as<T, TaskEnd>)
      value = End();
    else if constexpr (std::same_as<T, HostAction>)
      value = std::make_shared<const Command>(SomeCommand());
    else if constexpr (records::internal::Scalar<T>)
      FillScalar(value, detail);
    else if constexpr (std::same_as<T, std::string>)
      value = Text();
    else if constexpr (records::internal::IsOptional<T>::value)
      Coin() ? FillValue(value.emplace(), detail) : value.reset();
    else if constexpr (records::Described<T>)
      Fill(value);
    else
      FillMany(value, detail);
  }
  template <typename T, typename Detail>
  void FillScalar(T& value, const Detail& detail) {
    if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(Number(static_cast<std::uint64_t>(detail) + 1));
    else if constexpr (std::same_as<T, WallTime>)
      value = Time();
    else if constexpr (std::same_as<T, Duration>)
      value = Span();
    else if constexpr (records::internal::IdNumber<T>)
      value = T(Small(1000));
    else if constexpr (std::same_as<T, bool>)
      value = Coin();
    else
      value = static_cast<T>(Coin() ? Number(20) : Number(std::uint64_t{1} << (sizeof(T) * 7)));
  }
  template <typename T, typename Detail>
  void FillMany(T& value, const Detail& detail) {
    value.clear();
    for (std::size_t left = Number(4); left > 0; --left) {
      if constexpr (records::internal::Pairs<T>) {
        std::remove_cvref_t<decltype(value.begin()->second)> content{};
        FillValue(content, detail);
        if constexpr (records::internal::IsVector<T>::value)
          value.emplace_back(Text(), std::move(content));
        else
          value.emplace(Text(), std::move(content));
      } else {
        typename T::value_type item{};
        FillValue(item, detail);
        value.insert(value.end(), std::move(item));
      }
    }
  }
  Ordinals SomeOrdinals() {
    if (Coin()) return Ordinals::All(Small(1000));
    Ordinals set;
    for (std::size_t left = Number(30); left > 0; --left) set.Insert(Small(Coin() ? 40 : 20'000));
    return set;
  }
};

// Plans have no comparison of their own, as they hold their jobs by pointer.
inline bool SamePlan(const RunSpec& a, const RunSpec& b) {
  const auto same_job = [](const auto& x, const auto& y) {
    return x.first == y.first && SamePlan(*x.second, *y.second);
  };
  return a.title == b.title && a.targets == b.targets && a.stages == b.stages && a.job == b.job &&
         a.version == b.version && a.params == b.params && a.accepts == b.accepts &&
         a.max_hosts == b.max_hosts && a.max_percent == b.max_percent && a.timeout == b.timeout &&
         a.priority == b.priority && a.limits == b.limits && a.notices == b.notices &&
         a.data == b.data &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(), same_job);
}

// But for their plans.
inline bool SameRow(const Run& a, const Run& b) {
  return a.id == b.id && a.state == b.state && a.pass == b.pass && a.by == b.by &&
         SamePlan(RowSpecOf(a.spec), RowSpecOf(b.spec)) && a.hosts == b.hosts &&
         a.created == b.created && a.ended == b.ended && a.stop == b.stop && a.reason == b.reason &&
         a.stages == b.stages && a.counts == b.counts && a.next_visit == b.next_visit &&
         a.pause == b.pause && a.outcome == b.outcome && a.closing == b.closing &&
         a.used == b.used && a.ticking == b.ticking && a.overrides == b.overrides &&
         a.skips == b.skips && a.parent == b.parent && a.parent_visit == b.parent_visit &&
         a.trigger == b.trigger && a.slot == b.slot && a.trace_parent == b.trace_parent &&
         a.starters == b.starters && a.plan_pass == b.plan_pass && a.guarded == b.guarded &&
         a.above == b.above && a.keys_above == b.keys_above;
}

inline bool SameRun(const Run& a, const Run& b) {
  return SameRow(a, b) && SamePlan(a.spec, b.spec);
}

}  // namespace muster
