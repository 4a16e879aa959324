#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "adapters/memory/memory_store.hpp"
#include "engine/pipeline.hpp"
#include "engine/triggers/zones.hpp"
#include "ports/forwarding_store.hpp"
#include "sim/triggers/book.hpp"

namespace muster::sim {

// A server with triggers, weeks of them in a moment: the real pipeline and engine over a memory
// disk. It crashes between any two steps, commits are lost or answered unclearly, the wall clock
// jumps, the disk is restored from backups, and people edit, pause, skip and backfill. A seed
// replays exactly.
class TriggerWorld final : public Links {
 public:
  explicit TriggerWorld(std::uint64_t seed);

  // Runs the history and checks it. The promises that were broken.
  std::vector<std::string> Run();

  std::uint64_t starts() const { return book_.starts; }
  const std::map<std::string, std::uint64_t>& skips() const { return book_.skips; }
  const Words& words() const { return book_.words(); }
  std::uint64_t crashes = 0;

 private:
  struct Event {
    MonoTime at;
    std::uint64_t order = 0;
    std::function<void()> act;
    friend bool operator>(const Event& a, const Event& b) {
      return std::pair(a.at, a.order) > std::pair(b.at, b.order);
    }
  };
  // The disk as the server sees it: slow, and not always clear.
  class Disk final : public ForwardingStore {
   public:
    Disk(TriggerWorld& world, Store& store) : ForwardingStore(store), world_(world) {}
    void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                CommitDone done) override {
      world_.Commit(std::move(batch), term, number, std::move(done));
    }

   private:
    TriggerWorld& world_;
  };

  void Send(std::vector<Outgoing>) override {}
  void Close(LinkId) override {}
  void BeginAnew(Term, const std::string&) override {}

  std::uint64_t Number(std::uint64_t below) { return random_() % below; }
  bool Chance(std::uint64_t in) { return Number(in) == 0; }
  Duration Upto(Duration most) {
    return Duration(Number(static_cast<std::uint64_t>(most.count())) + 1);
  }

  void After(Duration wait, std::function<void()> act);
  // The same, unless the server crashes first.
  void AfterIfUp(Duration wait, std::function<void()> act);
  void Step(MonoTime until);
  void Live(Duration time);

  void Start();
  void Crash(Duration away);
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              Store::CommitDone done);
  bool Apply(const std::shared_ptr<const Batch>& batch, Term term, CommitNumber number);
  void Take(engine::AnyCommand command);
  void Answer(const engine::PrepareSlot& slot);
  void Answer(const engine::FetchTriggers& fetch);
  void Answer(const engine::ServerOrder& order);
  void Answer(const engine::StopServerOrder&) {}  // it is answered all the same
  std::vector<std::pair<std::string, std::string>> SomeWords();
  Result<engine::SlotPlan> PlanOf();

  // People and the world around; each arms itself again.
  void Meddle();
  void ActOnTrigger(const std::string& name);
  void ApplyOrDrop(const std::string& name);
  TriggerSpec SomeSpec(const std::string& name);
  void JumpClock();
  void TakeBackup();
  void Restore();
  std::string SomeName() { return names_[Number(names_.size())]; }

  std::mt19937_64 random_;
  std::shared_ptr<engine::FixedZones> zones_ = std::make_shared<engine::FixedZones>();
  Now now_{WallTime{1'805'000'000'000}, MonoTime{1'000}};  // 2027-03-14
  std::vector<std::string> names_{"a", "b", "c", "d"};
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  std::uint64_t life_ = 0;  // of the server
  bool calm_ = false;       // no more faults

  std::shared_ptr<MemoryDisk> disk_ = MakeMemoryDisk();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Disk> view_;
  std::unique_ptr<engine::Pipeline> pipeline_;
  MonoTime wake_{0};

  Book::Started started_;
  Book book_;
  struct Backup {
    std::shared_ptr<MemoryDisk> disk;
    Book book;
    WallTime taken;
  };
  std::optional<Backup> backup_;
  int documents_ = 0;
  std::uint64_t said_ = 0;  // no two words are the same
};

}  // namespace muster::sim
