#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "domain/records.hpp"

namespace muster {

// Draws records with any content a store or a link may meet. The same seed draws the same.
class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t Number(std::uint64_t below) { return engine_() % below; }
  bool Coin() { return Number(2) == 1; }
  WallTime Time() {
    return Coin() ? WallTime{} : WallTime{1'700'000'000'000 + int64_t(Number(1ULL << 36))};
  }
  Duration Span() { return Duration(Number(100'000'000)); }

  std::string Bytes(std::size_t most) {
    std::string bytes(Number(most + 1), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(Number(256));
    return bytes;
  }
  std::string Text(std::size_t most = 12) {
    static const std::vector<std::string> kLetters{"a",  "Z", "0", " ",  "'",
                                                   "\"", "ä", "→", "\n", "-"};
    std::string text;
    for (std::size_t left = Number(most + 1); left > 0; --left)
      text += kLetters[Number(kLetters.size())];
    return text;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts(Number(4));
    for (auto& text : texts) text = Text();
    return texts;
  }
  Labels SomeLabels() {
    Labels labels;
    for (std::size_t left = Number(4); left > 0; --left) labels[Text()] = Text();
    return labels;
  }
  std::string Hash() {
    if (Coin()) return kEmptySha256;
    std::string hash(32, '\0');
    for (auto& byte : hash) byte = static_cast<char>(Number(256));
    return hash;
  }

  TaskKey Key() {
    return {.run = RunId(1 + Number(1000)),
            .visit = Visit(1 + Number(3)),
            .ordinal = static_cast<std::uint32_t>(Number(20'000)),
            .host = HostId(1 + Number(20'000)),
            .attempt = Attempt(1 + Number(3))};
  }
  LogTotals Totals() {
    return {.bytes = Number(1 << 30),
            .dropped = Coin() ? 0 : Number(1 << 30),
            .gap = Coin(),
            .stdout_sha256 = Hash(),
            .stderr_sha256 = Hash()};
  }
  TaskEnd End() {
    static constexpr TaskState kEnds[] = {TaskState::kSucceeded, TaskState::kFailed,
                                          TaskState::kTimedOut,  TaskState::kKilled,
                                          TaskState::kLost,      TaskState::kRefused};
    TaskEnd end{.state = kEnds[Number(6)],
                .exit_code = static_cast<int>(Number(256)) - 1,
                .signal = static_cast<int>(Number(20)),
                .reason = Text(),
                .leftovers = Coin(),
                .peak_memory = Number(1ULL << 40),
                .started = Time(),
                .ended = Time(),
                .log = {}};
    if (Coin()) end.log = Totals();
    return end;
  }
  TaskRecord Task() {
    TaskRecord task;
    task.key = Key();
    task.state = static_cast<TaskState>(Number(kTaskStates));
    task.sent = Time();
    task.ended = Time();
    if (Coin()) task.end = End();
    task.reason = Text();
    task.store = Text();
    task.boot = Text();
    task.log = {.state = static_cast<LogState>(Number(5)),
                .bytes = Number(1 << 30),
                .stdout_sha256 = Coin() ? "" : Hash(),
                .stderr_sha256 = Coin() ? "" : Hash()};
    task.stop_wished = Coin();
    if (Coin()) task.late = End();
    task.sent_commit = CommitNumber(Number(1ULL << 40));
    task.sent_term = Term(Number(1ULL << 40));
    task.ended_commit = CommitNumber(Number(1ULL << 40));
    task.ended_term = Term(Number(1ULL << 40));
    return task;
  }
  Command SomeCommand() {
    Command command{.argv = Texts(),
                    .script = Bytes(2000),
                    .interpreter = Text(),
                    .args = Texts(),
                    .stdin_data = Bytes(100),
                    .env = {},
                    .masks = {Bytes(8), Bytes(8)},
                    .user = Text(),
                    .folder = Text(),
                    .timeout = Span(),
                    .grace = Span(),
                    .max_output = Number(1ULL << 40),
                    .kill_leftovers = Coin(),
                    .resources = {.memory = Coin() ? 0 : Number(1ULL << 40),
                                  .cpu = static_cast<std::uint32_t>(Number(4000)),
                                  .processes = static_cast<std::uint32_t>(Number(100))}};
    for (const auto& key : Texts()) command.env.emplace_back(key, Bytes(10));
    return command;
  }
  StopWish Wish() { return {.by = Text(), .at = Time(), .reason = Text(), .grace = Span()}; }
  HostShare Share() {
    return {.number = static_cast<std::uint32_t>(Number(100)), .percent = Coin()};
  }
  StageSpec Spec() {
    StageSpec spec;
    spec.name = Text();
    spec.command = std::make_shared<const Command>(SomeCommand());
    spec.concurrency = static_cast<std::uint32_t>(Number(100));
    for (std::size_t left = Number(4); left > 0; --left) spec.batches.sizes.push_back(Share());
    spec.batches.add = Share();
    spec.batches.factor = static_cast<std::uint32_t>(Number(4));
    spec.max_failures = Share();
    spec.wait_offline = Span();
    return spec;
  }
  muster::Stage SomeStage() {
    muster::Stage stage{.visit = Visit(Number(9)),
                        .index = static_cast<std::uint32_t>(Number(9)),
                        .state = static_cast<StageState>(Number(7)),
                        .started = Time(),
                        .ended = Time(),
                        .counts = {}};
    for (auto& count : stage.counts.by_state) count = static_cast<std::uint32_t>(Number(20'000));
    return stage;
  }
  muster::Run SomeRun() {
    muster::Run run;
    run.id = RunId(1 + Number(1000));
    run.state = static_cast<RunState>(Number(8));
    run.pass = static_cast<std::uint32_t>(Number(5));
    run.by = Text();
    run.spec.title = Text(60);
    run.spec.targets = Text(60);
    for (std::size_t left = Number(3); left > 0; --left) run.spec.stages.push_back(Spec());
    run.hosts = static_cast<std::uint32_t>(Number(20'000));
    run.created = Time();
    run.ended = Time();
    if (Coin()) run.stop = Wish();
    run.reason = Text();
    for (std::size_t left = Number(3); left > 0; --left) run.stages.push_back(SomeStage());
    return run;
  }
  Targets SomeTargets() {
    Targets targets(Number(300));
    for (auto& target : targets) target = {.host = HostId(1 + Number(20'000)), .name = Text()};
    return targets;
  }
  Host SomeHost() {
    return {.id = HostId(1 + Number(1000)),
            .name = Text(),
            .key = Text(),
            .state = static_cast<HostState>(Number(3)),
            .note = Text(),
            .labels = SomeLabels(),
            .facts = SomeLabels(),
            .store = Text(),
            .boot = Text(),
            .session = Number(1ULL << 60),
            .joined = Time(),
            .last_hello = Time()};
  }
  Invite SomeInvite() {
    return {.id = Text(),
            .uses_left = static_cast<std::uint32_t>(Number(3)),
            .expires = Time(),
            .replace = Coin(),
            .labels = SomeLabels(),
            .created_by = Text(),
            .created = Time(),
            .names = Text()};
  }
  PendingJoin SomePending() {
    return {.name = Text(),
            .key = Text(),
            .invite = Text(),
            .labels = SomeLabels(),
            .invited = SomeLabels(),
            .address = Text(),
            .since = Time(),
            .rejected = Text()};
  }
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

 private:
  std::mt19937_64 engine_;
};

// Runs and their parts have no comparison of their own, as they hold their commands by pointer.
inline bool SameRun(const Run& a, const Run& b) {
  const auto same_spec = [](const StageSpec& x, const StageSpec& y) {
    return x.name == y.name && *x.command == *y.command && x.concurrency == y.concurrency &&
           x.batches == y.batches && x.max_failures == y.max_failures &&
           x.wait_offline == y.wait_offline;
  };
  const auto same_stage = [](const muster::Stage& x, const muster::Stage& y) {
    return x.visit == y.visit && x.index == y.index && x.state == y.state &&
           x.started == y.started && x.ended == y.ended && x.counts == y.counts;
  };
  return a.id == b.id && a.state == b.state && a.pass == b.pass && a.by == b.by &&
         a.spec.title == b.spec.title && a.spec.targets == b.spec.targets && a.hosts == b.hosts &&
         a.created == b.created && a.ended == b.ended && a.stop == b.stop && a.reason == b.reason &&
         std::equal(a.spec.stages.begin(), a.spec.stages.end(), b.spec.stages.begin(),
                    b.spec.stages.end(), same_spec) &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same_stage);
}

}  // namespace muster
