// Fills the store of servers that are not running with triggers: each with its document, as if it
// had been applied, and due once a month, two days from now at the earliest.
//
//   triggers_fill FOLDER|postgres://… COUNT

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>

#include "adapters/postgres/postgres_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"
#include "adapters/system/system_clock.hpp"
#include "cron/next.hpp"

namespace {

using namespace muster;

constexpr std::size_t kBatch = 4000;  // changes, as the server's own batches

[[noreturn]] void Die(const Error& why) {
  std::fprintf(stderr, "triggers_fill: %s\n", why.message.c_str());
  std::exit(1);
}

// A day and minute that come late enough.
std::string Expression(std::uint64_t number, WallTime now) {
  const std::uint64_t today = static_cast<std::uint64_t>(now.ms / 86'400'000);
  const std::chrono::sys_days day{std::chrono::days(today + 3 + number % 24)};
  const auto date = static_cast<unsigned>(std::chrono::year_month_day(day).day());
  return fmt::format("{} {} {} * *", number / 24 % 60, number / 1440 % 24, date);
}

std::shared_ptr<const Document> DocumentOf(const TriggerSpec& spec, WallTime now) {
  auto document = std::make_shared<Document>();
  document->kind = "trigger";
  document->name = spec.name;
  document->version = 1;
  document->hash = std::string(32, 'h');
  document->text =
      fmt::format("apiVersion: muster/v1\nkind: trigger\nname: {}\ncron: '{}'\njob: {}\n",
                  spec.name, spec.cron, spec.job);
  document->by = "bench";
  document->at = now;
  return document;
}

Trigger TriggerOf(std::uint64_t number, WallTime now) {
  Trigger trigger;
  trigger.spec.name = fmt::format("idle-{:07}", number);
  trigger.spec.cron = Expression(number, now);
  trigger.spec.job = "tick";
  trigger.version = 1;
  trigger.hash = std::string(32, 'h');
  trigger.applied = now;
  trigger.mark = now;
  const auto schedule = cron::Parse(trigger.spec.cron);
  if (!schedule) Die(cron::ToError(trigger.spec.cron, schedule.error()));
  trigger.next = cron::Next(*schedule, cron::Zone::Utc(), now).value_or(WallTime{});
  return trigger;
}

void Commit(Store& store, Fence& fence, Batch batch) {
  fence.number = CommitNumber(fence.number.value + 1);
  std::promise<Result<>> done;
  store.Commit(std::make_shared<const Batch>(std::move(batch)), fence.term, fence.number,
               [&done](Result<> result) { done.set_value(std::move(result)); });
  if (const auto result = done.get_future().get(); !result) Die(result.error());
}

std::unique_ptr<Store> Open(const std::string& where) {
  if (where.starts_with("postgres")) {
    auto opened = PostgresStore::Open({.address = where});
    if (!opened) Die(opened.error());
    return std::move(*opened);
  }
  auto opened = SqliteStore::Open(where, {});
  if (!opened) Die(opened.error());
  return std::move(*opened);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: triggers_fill FOLDER|postgres://... COUNT\n");
    return 2;
  }
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const auto opened = Open(argv[1]);
  Store& store = *opened;
  auto fence = store.TakeTerm();
  if (!fence) Die(fence.error());
  const WallTime now = SystemClock().Read().wall;
  Batch batch;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Trigger trigger = TriggerOf(i, now);
    batch.changes.emplace_back(PutDocument{DocumentOf(trigger.spec, now)});
    batch.changes.emplace_back(PutTrigger{trigger});
    if (batch.changes.size() >= kBatch) Commit(store, *fence, std::exchange(batch, {}));
  }
  TriggerCounts counts;
  counts.runnable = count;
  batch.changes.emplace_back(PutTriggerCounts{counts});
  Commit(store, *fence, std::move(batch));
  return 0;
}
