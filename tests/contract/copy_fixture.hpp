#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "adapters/records/records.hpp"
#include "contract/store_fixture.hpp"
#include "support/random_records.hpp"

// Stores with something of everything in them, and all that can be asked of a store.
namespace muster {

class FilledStore {
 public:
  static constexpr std::uint64_t kRuns = 12;
  static constexpr std::uint32_t kHosts = 9;
  static constexpr int kNames = 6;

  // Takes a term and commits some batches; the same seed commits the same.
  explicit FilledStore(Store& store, std::uint64_t seed = 1) : random_(seed) { Fill(store); }

  static std::string NameOf(std::uint64_t number) {
    return "n\xc3\xa4'\"" + std::to_string(number);
  }

 private:
  void Fill(Store& store) {
    auto fence = store.TakeTerm();
    ASSERT_TRUE(fence) << fence.error().message;
    for (int i = 0; i < 4; ++i) {
      fence->number = CommitNumber(fence->number.value + 1);
      const auto done = CommitTo(store, BatchOf(Changes()), fence->term, fence->number);
      ASSERT_TRUE(done) << done.error().message;
    }
  }

  std::vector<Change> Changes() {
    std::vector<Change> changes;
    AddPeople(changes);
    for (std::uint64_t run = 1; run <= kRuns; ++run)
      if (random_.Coin()) AddRun(RunId(run), changes);
    AddRules(changes);
    return changes;
  }

  void AddPeople(std::vector<Change>& changes) {
    for (std::uint32_t id = 1; id <= kHosts; ++id) {
      Host host = random_.SomeHost();
      host.id = HostId(id);
      changes.emplace_back(PutHost{host});
      AuditEntry entry = random_.Audit();
      entry.number = ++number_;
      changes.emplace_back(AddAudit{entry, {HostId(id), HostId(1 + id % kHosts)}});
    }
    changes.emplace_back(DropHost{HostId(1 + random_.Number(kHosts))});
    for (int i = 0; i < kNames; ++i) {
      const std::string name = NameOf(i);
      Invite invite = random_.SomeInvite();
      invite.id = name;
      changes.emplace_back(PutInvite{invite});
      changes.emplace_back(PutToken{{.name = name,
                                     .hash = random_.Hash(),
                                     .role = static_cast<Role>(random_.Number(3)),
                                     .created_by = random_.Text(),
                                     .created = random_.Time(),
                                     .expires = random_.Time(),
                                     .revoked_by = random_.Text(),
                                     .revoked = random_.Time()}});
      PendingJoin pending = random_.SomePending();
      pending.name = name;
      changes.emplace_back(PutPending{pending});
      changes.emplace_back(PutKey{{.caller = name,
                                   .key = random_.Coin() ? "" : name,
                                   .body_sha256 = random_.Hash(),
                                   .run = RunId(1 + random_.Number(kRuns)),
                                   .created = {1'763'200'000'000}}});
    }
  }

  void AddRun(RunId id, std::vector<Change>& changes) {
    Run run = random_.SomeRun();
    run.id = id;
    if (random_.Coin()) run.by = NameOf(random_.Number(kNames));
    changes.emplace_back(PutRun{run});
    changes.emplace_back(PutPlan{id, std::make_shared<const RunSpec>(run.spec)});
    changes.emplace_back(PutTargets{id, std::make_shared<const Targets>(random_.SomeTargets())});
    for (std::uint32_t visit = 1; visit <= 3; ++visit) {
      StageVisit some = random_.SomeVisit();
      some.visit = Visit(visit);
      changes.emplace_back(PutVisit{id, some});
    }
    for (std::uint32_t ordinal = 0; ordinal < kHosts; ++ordinal) {
      TaskRecord task = random_.Task();
      task.key = TaskRow(id.value, ordinal, ordinal + 1, 1 + random_.Small(2)).key;
      changes.emplace_back(PutTask{task});
      if (random_.Coin()) changes.emplace_back(PutWish{{.task = task.key, .wish = random_.Wish()}});
      if (random_.Coin()) changes.emplace_back(PutHold{{.key = random_.Text(), .task = task.key}});
    }
    changes.emplace_back(PutNotice{{.run = id, .visit = Visit(1)}});
  }

  void AddRules(std::vector<Change>& changes) {
    TriggerCounts counts;
    counts.Of(TriggerState::kPaused) = random_.Number(100);
    changes.emplace_back(PutTriggerCounts{counts});
    for (int i = 0; i < kNames; ++i) {
      Document document;
      document.kind = "job";
      document.name = NameOf(i);
      document.version = static_cast<std::uint32_t>(++number_);
      document.hash = random_.Hash();
      changes.emplace_back(PutDocument{std::make_shared<const Document>(document)});
      if (random_.Coin()) changes.emplace_back(DropDocument{"job", document.name});
      Trigger trigger = random_.SomeTrigger();
      trigger.spec.name = NameOf(i);
      trigger.dropped = random_.Number(4) == 0;
      changes.emplace_back(PutTrigger{trigger});
      for (int slots = 0; slots < 4; ++slots) {
        SlotRecord slot = random_.SomeSlot();
        slot.trigger = trigger.spec.name;
        changes.emplace_back(PutSlot{slot});
      }
      Secret secret;
      secret.name = NameOf(i);
      secret.sealed = random_.Bytes(40);
      changes.emplace_back(PutSecret{secret});
      Freeze freeze = random_.SomeFreeze();
      freeze.id = static_cast<std::uint64_t>(i + 1);
      changes.emplace_back(PutFreeze{freeze});
    }
  }

  RandomRecords random_;
  std::uint64_t number_ = 0;  // only ever goes up
};

// Every answer of a store by what was asked, as bytes that are the same for the same records.
class StoreView {
 public:
  static std::map<std::string, std::string> Of(Store& store) {
    StoreView view(store);
    view.AddSnapshot();
    view.AddRuns();
    view.AddLists();
    return std::move(view.answers_);
  }

 private:
  static constexpr std::size_t kAll = 100'000;

  explicit StoreView(Store& store) : store_(store) {}

  template <typename T>
  T Must(Result<T> answer) {
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::move(*answer) : T();
  }
  void Add(const std::string& question, const std::string& answer) {
    answers_[question] += fmt::format("[{}]", answer);
  }
  void Add(const std::string& question, const Result<std::string>& answer) {
    Add(question, Must(answer));
  }
  template <typename All, typename Encode>
  void AddEach(const std::string& question, const All& all, Encode encode) {
    Add(question, std::to_string(all.size()));
    for (const auto& one : all) Add(question, encode(one));
  }

  template <typename T>
  static std::string Blob(const T& record) {
    return *records::Encode(record);
  }
  static constexpr auto kBlob = [](const auto& record) { return Blob(record); };

  static std::string TaskBytes(const TaskRecord& task) {
    return fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {} {} {}", FormatTaskKey(task.key),
        static_cast<int>(task.state), task.sent.ms, task.sent_commit.value, task.sent_term.value,
        task.ended.ms, task.ended_commit.value, task.ended_term.value, task.store, task.boot,
        static_cast<int>(task.log.state), task.log.bytes, records::EncodeTaskRest(task));
  }
  static std::string TokenBytes(const Token& token) {
    return fmt::format("{} {} {} {} {} {} {} {}", token.name, token.hash,
                       static_cast<int>(token.role), token.created_by, token.created.ms,
                       token.expires.ms, token.revoked_by, token.revoked.ms);
  }
  static std::string AuditBytes(const AuditEntry& entry) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", entry.number, entry.at.ms,
                       entry.actor, entry.address, entry.client, entry.act, entry.object,
                       entry.detail, entry.reason, entry.run.value, entry.hosts, entry.names,
                       entry.command, entry.command_sha256, entry.previous, entry.hash);
  }
  static std::string TriggerBytes(const Trigger& trigger) {
    return Blob(trigger) + (trigger.dropped ? " dropped" : "");
  }
  void AddWhole(const std::string& question, const Snapshot::OpenRun& whole) {
    Add(question, Blob(whole.run));
    Add(question, Blob(whole.run.spec));
    Add(question, Blob(*whole.targets));
    AddEach(question, whole.tasks, TaskBytes);
    AddEach(question, whole.visits, kBlob);
  }

  void AddSnapshot() {
    const Fence fence = Must(store_.ReadFence());
    const Snapshot all = Must(store_.Load(fence.term));
    Add("fence", fmt::format("{} {}", fence.term.value, fence.number.value));
    Add("marks", fmt::format("{} {} {} {} {} {}", all.cluster, all.id_space, all.next_run,
                             all.next_host, all.audit.number, all.audit.hash));
    if (all.restored)
      Add("restored",
          fmt::format("{} {} {}", all.restored->taken.ms, all.restored->at.ms, all.restored->logs));
    AddEach("tokens", all.tokens, TokenBytes);
    AddEach("hosts", all.hosts, kBlob);
    AddEach("invites", all.invites, kBlob);
    for (const auto& run : all.runs) AddWhole("open runs", run);
    AddEach("open logs", all.open_logs, TaskBytes);
    AddEach("wishes", all.wishes,
            [](const OpenWish& wish) { return FormatTaskKey(wish.task) + Blob(wish.wish); });
    AddEach("pending", all.pending, kBlob);
    AddEach("holds", all.holds,
            [](const KeyHold& hold) { return FormatTaskKey(hold.task) + hold.key; });
    AddEach("heads", all.documents,
            [](const DocumentHead& head) { return Blob(head) + (head.dropped ? " dropped" : ""); });
    AddEach("notices", all.notices, kBlob);
    AddEach("freezes", all.freezes, kBlob);
    AddEach("triggers of runs", all.triggers, TriggerBytes);
    TriggerCounts counts = all.trigger_counts;
    for (const auto state : {TriggerState::kRunnable, TriggerState::kPaused,
                             TriggerState::kComplete, TriggerState::kError})
      Add("trigger counts", std::to_string(counts.Of(state)));
  }

  void AddRuns() {
    for (std::uint64_t id = 1; id <= FilledStore::kRuns; ++id) {
      const std::string question = fmt::format("run {}", id);
      if (const auto run = Must(store_.FindRun(RunId(id))).value) {
        Add(question, Blob(*run));
        Add(question, Blob(run->spec));
      }
      if (const auto whole = Must(store_.ReadWholeRun(RunId(id))).value) AddWhole(question, *whole);
      AddEach(question, Must(store_.ListVisits(RunId(id), Visit(), kAll)), kBlob);
      AddEach(question,
              Must(store_.ListTasks(
                  RunId(id), {.state = {}, .host = {}, .last_attempt_only = false}, {}, kAll)),
              TaskBytes);
    }
    const auto list = [this](const RunFilter& filter) {
      AddEach("runs", Must(store_.ListRuns(filter, RunId(), kAll)), kBlob);
    };
    for (int state = 0; state < 8; ++state) list({.state = static_cast<RunState>(state)});
    for (std::uint64_t host = 1; host <= FilledStore::kHosts; ++host)
      list({.state = {}, .by = "", .host = HostId(host)});
    for (int i = 0; i < FilledStore::kNames; ++i) list({.state = {}, .by = FilledStore::NameOf(i)});
  }

  void AddLists() {
    AddEach("secrets", Must(store_.ListSecrets()), kBlob);
    AddEach("audit", Must(store_.ReadAudit(0, kAll)), AuditBytes);
    for (std::uint64_t host = 1; host <= FilledStore::kHosts; ++host)
      AddEach("audit of a host", Must(store_.ListAudit({.host = HostId(host)}, 0, kAll)).entries,
              AuditBytes);
    AddEach("documents", Must(store_.ListDocumentHeads("job", "", kAll)), kBlob);
    AddEach("triggers", Must(store_.ListTriggers("", kAll)), TriggerBytes);
    AddEach("due", Must(store_.DueTriggers({}, INT64_MAX, kAll)).value, TriggerBytes);
    for (int i = 0; i < FilledStore::kNames; ++i) {
      const std::string name = FilledStore::NameOf(i);
      for (const auto& key : {std::string(), name})
        if (const auto found = Must(store_.FindKey(name, key)).value)
          Add("keys", fmt::format("{} {} {} {} {}", found->caller, found->key, found->body_sha256,
                                  found->run.value, found->created.ms));
      if (const auto found = Must(store_.FindTrigger(name)).value)
        Add("trigger " + name, TriggerBytes(*found));
      for (std::uint32_t version = 0; version <= 64; ++version)
        if (const auto found = Must(store_.FindDocument("job", name, version)))
          Add("versions", Blob(*found));
      AddEach("slots of " + name, Must(store_.ListSlots(name, {}, {}, kAll)), kBlob);
    }
    const WallTime late{INT64_MAX / 4};
    const Expired old = Must(store_.FindExpired({late, late, late, late}, kAll));
    AddEach("old runs", old.runs,
            [](const auto& run) { return fmt::format("{} {}", run.run.value, run.hosts); });
    AddEach("old invites", old.invites, [](const auto& id) { return id; });
    // Those of one moment come in any order.
    std::set<std::string> slots;
    for (const auto& slot : old.slots)
      slots.insert(fmt::format("{} {} {}", slot.trigger, slot.first.ms, slot.act));
    AddEach("old slots", slots, [](const auto& slot) { return slot; });
    Add("old audit", std::to_string(old.audit_below));
  }

  Store& store_;
  std::map<std::string, std::string> answers_;
};

inline void ExpectSame(const std::map<std::string, std::string>& want,
                       const std::map<std::string, std::string>& have) {
  for (const auto& [question, answer] : want) {
    const auto found = have.find(question);
    ASSERT_NE(found, have.end()) << question;
    EXPECT_TRUE(found->second == answer) << question << " is answered differently";
  }
  EXPECT_EQ(want.size(), have.size());
}

}  // namespace muster
