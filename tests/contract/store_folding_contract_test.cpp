#include "contract/store_fixture.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

// A store may write the changes of a batch in another order than they come in, as long as nobody
// can tell.
class StoreFolding : public StoreContract {
 protected:
  // Few keys, so that most are put and dropped again.
  static Change SomeChange(RandomRecords& random, std::uint64_t number) {
    const std::string name = "n" + std::to_string(random.Number(3));
    const RunId run(1 + random.Number(3));
    TaskRecord task = random.Task();
    task.key = TaskRow(run.value, static_cast<std::uint32_t>(random.Number(2)), 7).key;
    switch (random.Number(18)) {
      case 0: {
        Host host = random.SomeHost();
        host.id = HostId(1 + random.Number(3));
        return PutHost{host};
      }
      case 1:
        return DropHost{HostId(1 + random.Number(3))};
      case 2:
        return PutInvite{{.id = name, .uses_left = static_cast<std::uint32_t>(random.Number(2))}};
      case 3:
        return DropInvite{name};
      case 4:
        return PutRun{
            RunOf(run.value, random.Number(2) == 0 ? RunState::kRunning : RunState::kSucceeded)};
      case 5:
        return PutTask{task};
      case 6:
        return DropRun{.run = run};
      case 7:
        return PutWish{{.task = task.key, .wish = random.Wish()}};
      case 8:
        return DropWish{task.key};
      case 9:
        return PutHold{{.key = name, .task = task.key}};
      case 10:
        return DropHold{{.key = name, .task = task.key}};
      case 11: {
        AuditEntry entry = random.Audit();
        entry.number = number;
        return AddAudit{entry, {HostId(7)}};
      }
      case 12:
        return DropAudit{number > 3 ? number - 3 : 0};
      case 13: {
        Document document;
        document.kind = "job";
        document.name = name;
        document.version = static_cast<std::uint32_t>(number);
        return PutDocument{std::make_shared<const Document>(document)};
      }
      case 14:
        return DropDocument{"job", name};
      case 15: {
        SlotRecord slot;
        slot.trigger = "t";
        slot.first = {100 * static_cast<std::int64_t>(random.Number(3))};
        slot.last = {slot.first.ms + static_cast<std::int64_t>(random.Number(50))};
        slot.at = slot.first;
        return PutSlot{slot};
      }
      case 16:
        return DropSlot{.trigger = "t",
                        .first = {100 * static_cast<std::int64_t>(random.Number(3))}};
      default:
        return PutTargets{run, std::make_shared<const Targets>(random.SomeTargets())};
    }
  }

  // All that can be asked of the few keys, as one text.
  std::string Seen() {
    Snapshot snapshot = Load();
    std::string all;
    const auto add = [&](const auto& records) { all += fmt::format("{};", records.size()); };
    add(snapshot.hosts);
    for (const auto& host : snapshot.hosts) all += fmt::format("{} ", host.name);
    for (const auto& invite : snapshot.invites) all += fmt::format("{} ", invite.id);
    for (const auto& wish : snapshot.wishes)
      all += fmt::format("{} {} ", FormatTaskKey(wish.task), wish.wish.reason);
    for (const auto& hold : snapshot.holds)
      all += fmt::format("{} {} ", FormatTaskKey(hold.task), hold.key);
    add(snapshot.runs);
    add(snapshot.open_logs);
    for (const auto& head : snapshot.documents)
      all += fmt::format("{}.{}.{} ", head.name, head.version, head.dropped);
    for (std::uint64_t run = 1; run <= 3; ++run) {
      const auto targets = store_->FindTargets(RunId(run));
      all += fmt::format("{} {}:", store_->FindRun(RunId(run))->value.has_value(),
                         targets ? (*targets)->size() : 999);
      for (const auto& task : *store_->ListTasks(RunId(run), {}, {}, 100))
        all += fmt::format("{} {} {} ", FormatTaskKey(task.key), static_cast<int>(task.state),
                           task.sent.ms);
    }
    for (const auto& slot : *store_->ListSlots("t", {}, {}, 100))
      all += fmt::format("{}-{} ", slot.first.ms, slot.last.ms);
    for (const auto& entry : *store_->ReadAudit(0, 1000))
      all += fmt::format("{} {} ", entry.number, entry.object);
    all += fmt::format("{} {}", snapshot.next_run, store_->ReadAuditHead()->number);
    return all;
  }
};

TEST_P(StoreFolding, OneBatchIsTheSameAsItsChangesOneByOne) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    RandomRecords random(seed);
    std::vector<Change> changes;
    for (std::uint64_t i = 1; i <= 80; ++i) changes.push_back(SomeChange(random, i));
    std::string seen[2];
    for (const bool at_once : {true, false}) {
      disk_ = GetParam().make();
      store_ = disk_->Open();
      TakeTerm();
      if (at_once)
        Commit(changes);
      else
        for (const auto& change : changes) Commit({change});
      seen[at_once ? 0 : 1] = Seen();
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

MUSTER_STORE_ADAPTERS(StoreFolding);

}  // namespace
}  // namespace muster
