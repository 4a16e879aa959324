#include "server/keeping/keeper.hpp"

#include <algorithm>
#include <future>
#include <sys/statvfs.h>

#include <spdlog/spdlog.h>

#include "base/text.hpp"
#include "server/keeping/file_retention.hpp"

namespace muster::server {
namespace {

constexpr const char* kGate = "disk_low";
constexpr Duration kLookAtDisk = std::chrono::seconds(1);
constexpr std::uint64_t kFull = 1 << 20;  // a commit or a frame of output may need as much
constexpr Duration kBetweenSlices = std::chrono::milliseconds(20);
constexpr std::size_t kSlice = 1000;
constexpr Duration kLookAtUploads = std::chrono::hours(1);
constexpr Duration kUploadsKept = std::chrono::hours(24);  // after they were last continued

struct Room {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

// What an ordinary user may still use: the share kept for root is not ours.
std::optional<Room> RoomOf(const std::filesystem::path& folder) {
  struct statvfs about{};
  if (statvfs(folder.c_str(), &about) != 0) return std::nullopt;
  return Room{.free = static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize,
              .total = static_cast<std::uint64_t>(about.f_blocks) * about.f_frsize};
}

WallTime Before(WallTime now, Duration kept) {
  return kept.count() == 0 ? WallTime{} : now + -kept;
}

}  // namespace

Keeper::Keeper(Store& store, LogStore& logs, ArtifactStore& files, EngineThread& engine,
               const Clock& clock, Settings settings)
    : store_(store),
      logs_(logs),
      files_(files),
      engine_(engine),
      clock_(clock),
      settings_(std::move(settings)),
      watch_(settings_.disk_floor) {}

Keeper::~Keeper() { Stop(); }

void Keeper::Start() {
  WatchDisk();  // before the first run is taken
  thread_ = std::thread([this] { Loop(); });
}

void Keeper::Stop() {
  {
    base::Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool Keeper::WaitFor(Duration duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  base::Lock lock(mutex_);
  while (!stopping_)
    if (!changed_.WaitUntil(mutex_, until)) break;
  return !stopping_;
}

// Often enough for what is kept shortest, at most once an hour.
Duration Keeper::Period() const {
  Duration shortest = std::chrono::hours(24);
  for (const auto kept : {settings_.retention.logs, settings_.retention.runs,
                          settings_.retention.audit, settings_.retention.files})
    if (kept.count() > 0) shortest = std::min(shortest, kept);
  return std::clamp<Duration>(shortest / 24, std::chrono::seconds(1), std::chrono::hours(1));
}

void Keeper::Loop() {
  MonoTime drop_at = clock_.Read().mono;
  MonoTime uploads_at = drop_at;
  while (WaitFor(kLookAtDisk)) {
    WatchDisk();
    const MonoTime now = clock_.Read().mono;
    if (now >= uploads_at) {
      DropUploads();
      uploads_at = now + kLookAtUploads;
    }
    // What is old is the leader's business.
    if (now < drop_at || !engine_.GetStatus().leading) continue;
    DropOld();
    drop_at = now + Period();
  }
}

void Keeper::WatchDisk() {
  const auto room = RoomOf(settings_.data);
  if (!room) return;
  const bool changed = watch_.See(room->free, room->total);
  const std::uint64_t floor = settings_.disk_floor.Of(room->total);
  std::string reason;
  if (watch_.Low())
    reason = fmt::format(
        "no new runs: the disk of {} has {} left, less than {}; make room there, keep less "
        "(retention.logs) or lower disk.stop_runs_below; running work goes on",
        settings_.data.string(), FormatSize(room->free), FormatSize(floor));
  if (changed && watch_.Low()) spdlog::warn("disk low: {}", reason);
  if (changed && !watch_.Low())
    spdlog::info("disk well again: {} left on the disk of {}", FormatSize(room->free),
                 settings_.data.string());
  const bool yields = settings_.disk_low && settings_.disk_low(reason);
  if (yields && !std::exchange(yields_, true)) engine_.Submit(engine::SetGate{kGate, ""});
  yields_ = yields;
  if (yields) return;
  // A new leadership knows no gate, so a closed one is said again and again.
  if (changed || watch_.Low()) engine_.Submit(engine::SetGate{kGate, std::move(reason)});
}

template <typename Command>
std::optional<Result<typename Command::Answer>> Keeper::AskAndWait(Command command) {
  using Answer = Result<typename Command::Answer>;
  // Shared with the answer, which may come when nobody waits any more.
  auto answer = std::make_shared<std::promise<Answer>>();
  auto future = answer->get_future();
  engine_.Ask(std::move(command),
              [answer](Answer result) { answer->set_value(std::move(result)); });
  while (future.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    base::Lock lock(mutex_);
    if (stopping_) return std::nullopt;
  }
  return future.get();
}

void Keeper::DropOld() {
  DropLogs();
  while (DropSlice() && WaitFor(kBetweenSlices)) {
  }
  DropFiles();
}

// Each server has its own.
void Keeper::DropUploads() {
  const auto dropped = files_.DropUploads(clock_.Read().wall + -kUploadsKept);
  if (!dropped) spdlog::warn("unfinished uploads: {}", dropped.error().message);
}

void Keeper::DropFiles() {
  if (settings_.retention.files.count() == 0) return;
  const auto is_named = [this](const std::string& sha256) -> Result<bool> {
    auto answer = AskAndWait(engine::AskFile{.caller = {}, .key = {}, .sha256 = sha256});
    if (!answer) return true;
    if (!*answer) return Fail(answer->error());
    return (*answer)->may;
  };
  const auto gone = DropOldFiles(files_, Before(clock_.Read().wall, settings_.retention.files),
                                 is_named, [this] { return WaitFor(Duration::zero()); });
  if (!gone) spdlog::warn("retention: files: {}", gone.error().message);
  if (gone && *gone > 0) spdlog::info("retention: dropped {} files", *gone);
}

void Keeper::DropLogs() {
  if (settings_.retention.logs.count() == 0) return;
  std::promise<Result<std::size_t>> answer;
  logs_.DropDays(Before(clock_.Read().wall, settings_.retention.logs),
                 [&](Result<std::size_t> days) { answer.set_value(std::move(days)); });
  const auto days = answer.get_future().get();
  if (!days) spdlog::warn("retention: logs: {}", days.error().message);
  if (days && *days > 0) spdlog::info("retention: dropped {} days of output", *days);
}

bool Keeper::DropSlice() {
  const WallTime now = clock_.Read().wall;
  auto old = store_.FindExpired({.runs = Before(now, settings_.retention.runs),
                                 .audit = Before(now, settings_.retention.audit),
                                 .invites = now + -Duration(std::chrono::hours(24)),
                                 .slots = Before(now, settings_.retention.runs)},
                                kSlice);
  if (!old) {
    spdlog::warn("retention: {}", old.error().message);
    return false;
  }
  const auto dropped = AskAndWait(engine::DropOld{.caller = {}, .old = std::move(*old)});
  return dropped && *dropped && (*dropped)->things > 0;
}

LogsKept Keeper::KeptLogs() const {
  // Whole days are dropped.
  const auto since = [this](WallTime now) {
    constexpr std::int64_t kDay = 24LL * 3600 * 1000;
    if (settings_.retention.logs.count() == 0) return WallTime{};
    const WallTime oldest = Before(now, settings_.retention.logs);
    return WallTime{oldest.ms - oldest.ms % kDay};
  };
  LogsKept kept{.since = since(clock_.Read().wall)};
  const auto restored = engine_.GetStatus().restored;
  if (!restored || restored->logs) return kept;
  kept.restored = restored->at;
  kept.since_at_backup = since(restored->taken);
  return kept;
}

Keeper::Status Keeper::GetStatus() const {
  Status status{.backup = ReadLastBackup(settings_.data),
                .retention = settings_.retention,
                .data = settings_.data};
  if (const auto room = RoomOf(settings_.data)) {
    status.disk_free = room->free;
    status.disk_total = room->total;
    status.disk_floor = settings_.disk_floor.Of(room->total);
    status.disk_full = room->total > 0 && room->free < kFull;
  }
  status.disk_low = engine_.GetStatus().gates.contains(kGate);
  return status;
}

}  // namespace muster::server
