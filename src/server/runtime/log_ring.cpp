#include "server/runtime/log_ring.hpp"

#include <algorithm>
#include <array>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "adapters/system/log_lines.hpp"
#include "base/visible.hpp"

namespace muster::server {
namespace {

constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};

spdlog::level::level_enum LevelOf(std::string_view name) {
  return spdlog::level::from_str(std::string(name));
}

// spdlog's "warning" is our "warn", and it knows more levels than we use.
std::string NameOf(spdlog::level::level_enum level) {
  if (level <= spdlog::level::debug) return "debug";
  if (level == spdlog::level::info) return "info";
  return level == spdlog::level::warn ? "warn" : "error";
}

bool AtLeast(std::string_view level, std::string_view least) {
  return std::ranges::find(kLevels, level) >= std::ranges::find(kLevels, least);
}

Result<> Check(std::string_view level) {
  if (std::ranges::find(kLevels, level) != kLevels.end()) return {};
  return Fail(ErrorCode::kInvalid, "level: '{}' is none of debug, info, warn, error", level);
}

WallTime WallNow() {
  return {std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

}  // namespace

// Both ends of the log in one: spdlog asks a logger's level first, then each sink's.
struct LogRing::Sink final : spdlog::sinks::base_sink<std::mutex> {
  explicit Sink(LogRing& owner) : ring(&owner) {}
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (ring == nullptr) return;
    const auto time = std::chrono::duration_cast<Duration>(message.time.time_since_epoch()).count();
    ring->Keep({.number = 0,
                .time = {time},
                .level = NameOf(message.level),
                .message = VisibleLine({message.payload.data(), message.payload.size()})});
  }
  void flush_() override {}
  void Detach() {
    const std::lock_guard lock(mutex_);
    ring = nullptr;
  }
  LogRing* ring;
  std::shared_ptr<spdlog::sinks::stderr_sink_mt> out =
      std::make_shared<spdlog::sinks::stderr_sink_mt>();
};

std::unique_ptr<LogRing> LogRing::Install(const std::string& level, std::size_t most) {
  std::unique_ptr<LogRing> ring(new LogRing(most));
  ring->sink_ = std::make_shared<Sink>(*ring);
  auto logger = std::make_shared<spdlog::logger>(
      "musterd", spdlog::sinks_init_list{ring->sink_->out, ring->sink_});
  FormatLines(*logger);
  spdlog::set_default_logger(std::move(logger));
  ring->SetLevel(level);
  return ring;
}

LogRing::~LogRing() { sink_->Detach(); }

void LogRing::SetLevel(const std::string& level) {
  base::Lock lock(mutex_);
  level_ = level;
  Apply();
}

Result<> LogRing::Raise(std::string_view level, WallTime until) {
  if (const auto fits = Check(level); !fits) return fits;
  base::Lock lock(mutex_);
  raised_ = level;
  raised_until_ = until;
  Apply();
  return {};
}

void LogRing::Apply() {
  const std::string& detailed = raised_.empty() || AtLeast(raised_, level_) ? level_ : raised_;
  sink_->out->set_level(LevelOf(level_));
  sink_->set_level(LevelOf(detailed));
  spdlog::default_logger_raw()->set_level(LevelOf(detailed));
}

void LogRing::EndRaise() {
  if (raised_.empty() || WallNow() < raised_until_) return;
  raised_.clear();
  Apply();
}

void LogRing::Keep(Line line) {
  base::Lock lock(mutex_);
  EndRaise();
  line.number = ++last_;
  lines_.push_back(std::move(line));
  if (lines_.size() > most_) lines_.pop_front();
}

Result<LogRing::Page> LogRing::Read(std::string_view level, std::uint64_t after,
                                    std::size_t limit) {
  if (const auto fits = Check(level); !fits) return Fail(fits.error());
  base::Lock lock(mutex_);
  EndRaise();
  Page page;
  page.next = last_;
  page.level = raised_.empty() || AtLeast(raised_, level_) ? level_ : raised_;
  const std::uint64_t first = lines_.empty() ? last_ + 1 : lines_.front().number;
  // A number from before a restart of the server is above all of ours: begin anew.
  if (after > last_) after = 0;
  if (after != 0 && after + 1 < first) page.lost = first - after - 1;
  for (auto line = lines_.rbegin(); line != lines_.rend() && line->number > after; ++line) {
    if (page.lines.size() == limit) break;
    if (AtLeast(line->level, level)) page.lines.push_back(*line);
  }
  std::ranges::reverse(page.lines);
  return page;
}

}  // namespace muster::server
