#pragma once

#include <algorithm>
#include <cstddef>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

// When a server tries to lead, when it must have stopped, and when it leaves the election to the
// others for a while. Only decides: whoever asks (the engine's thread, the simulation) carries it
// out. Moments are of the server's own steady clock.
class Leading {
 public:
  static constexpr Duration kRetry{500};
  // Others get their chance after so many tries to lead, and when the store has not answered a
  // leader for so long.
  static constexpr int kMostTries = 3;
  static constexpr Duration kMostStalled = std::chrono::seconds(5);
  // And when it has not said anything at all, counted from the question: it asks each second.
  static constexpr Duration kMostSilent = std::chrono::seconds(4);
  static constexpr Duration kMakeRoomFor = std::chrono::seconds(4);
  // One that gives up a young leadership over its store stays away for longer each time: a store
  // that is slow for all must not be passed around.
  static constexpr Duration kMostRoom = std::chrono::seconds(32);
  static constexpr Duration kSteady = std::chrono::minutes(1);
  static constexpr Duration kMostClockOff = std::chrono::seconds(1);

  // Being elected is not enough: news of a loss may come late, or never.
  static bool MayAct(bool elected, MonoTime now, MonoTime lead_until) {
    return elected && now < lead_until;
  }

  // A leader with a wrong clock would start what is not due. Both readings around the question
  // bound what the store's clock may say. kConflict: it is off by too much.
  static Result<> CheckClock(WallTime before, WallTime there, WallTime after) {
    const Duration off = std::max(before - there, there - after);
    if (off <= kMostClockOff) return {};
    return Fail(ErrorCode::kConflict,
                "this machine's clock is {} off from the store's ({} there, {} here); set it right",
                FormatDuration(off), FormatTime(there), FormatTime(after));
  }

  bool TriesAt(MonoTime now) const { return now >= lead_again_; }
  // Zero after a try that worked.
  MonoTime lead_again() const { return lead_again_; }
  void Led(MonoTime now) {
    failed_ = 0;
    lead_again_ = {};
    led_ = now;
  }
  // A try failed. True when another server, if there is one, should have its chance.
  bool Failed(MonoTime now, std::size_t members) {
    lead_again_ = now + kRetry;
    return ++failed_ >= kMostTries && members > 1;
  }

  // After each turn: whether the store leaves a leader without an answer. True when another server,
  // if there is one, should have its chance: it may reach the store when this one does not.
  bool Stalls(MonoTime now, bool stalled, std::size_t members) {
    stalled_since_ = stalled ? std::min(stalled_since_, now) : kNever;
    return stalled && now - stalled_since_ > kMostStalled && members > 1;
  }

  // The same for a store that says nothing: `unanswered` is when the first of the questions since
  // its last answer was asked, kNever when there is none.
  static bool Silent(MonoTime now, MonoTime unanswered, std::size_t members) {
    return now - unanswered > kMostSilent && members > 1;
  }

  // It gives up what it led, as its store leaves it without an answer.
  void GaveUp(MonoTime now) {
    room_ = now - led_ >= kSteady ? kMakeRoomFor : std::min(room_ * 2, kMostRoom);
    MadeRoom(now);
    campaign_again_ = now + room_;
  }

  // It left the election, or could not enter it.
  void MadeRoom(MonoTime now) {
    campaign_again_ = now + kMakeRoomFor;
    failed_ = 0;
    stalled_since_ = kNever;
  }
  MonoTime campaign_again() const { return campaign_again_; }

 private:
  MonoTime campaign_again_{0};
  MonoTime lead_again_{0};
  MonoTime led_{0};  // since then, the last time
  Duration room_ = kMakeRoomFor;
  int failed_ = 0;  // in a row
  MonoTime stalled_since_ = kNever;
};

}  // namespace muster::server
