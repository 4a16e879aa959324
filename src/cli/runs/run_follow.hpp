#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cli/client/api_client.hpp"
#include "cli/client/event_feed.hpp"
#include "cli/context.hpp"
#include "cli/logs/live_log.hpp"
#include "cli/runs/host_printer.hpp"
#include "cli/runs/result_lines.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/signals.hpp"

namespace muster::cli {

struct FollowOptions {
  std::string run;
  std::uint64_t hosts = 0;
  std::string from;            // commit of the start; "": under way, so it is looked at first
  bool live = false;           // print hosts' output as it comes; else show progress
  bool all_to_stdout = false;  // hosts' stderr as well
  bool lines = false;          // print a line of JSON for each host as it ends
  bool job = false;            // it may ask a person something: say so
  bool asks = false;           // Ctrl-C asks whether to stop the run; else it detaches
  bool stays = true;           // also while the run waits for a person
  bool brief = false;          // no failures as they come, and progress at a terminal only
  // Until when it is watched; then the program leaves it with kExitTimedOut.
  std::optional<std::chrono::steady_clock::time_point> until = {};
};

// Watches a run until it has ended and its output is whole. Survives a server that goes away: it
// reconnects, to another server of the list too, for as long as it takes. It does not trust a
// stream that is silent: after kQuiet it asks how the run stands, and a stream that stays silent is
// begun again.
class Follower {
 public:
  Follower(const Context& context, ApiClient& api, FollowOptions options);

  // Nothing when the run ended; else the exit code of a program that leaves it.
  Result<std::optional<int>> Watch();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Duration kQuiet = std::chrono::seconds(5);

  Result<> Handle(EventFeed::Item item);
  Result<> HandleEvent(const SseEvent& event);
  Result<> HandleTask(const boost::json::value& task);
  void SayRecovered(const std::string& host, std::uint32_t attempt);
  Result<> Refresh();
  void TakeRun(const boost::json::value& run);
  void LookAtStages();
  void NameOffline();
  void LookForPerson();
  Result<> PrintLines();
  Result<> Lost(const Error& error);
  void ReconnectIfDue();
  Clock::time_point AsksAgainAt() const;
  Result<> DoubtSilence();
  bool Done();
  Duration UntilNext() const;
  std::optional<int> OnSignal(int signal);
  void Stop();
  std::optional<int> Detach();
  std::optional<int> LeaveToPerson();
  std::optional<int> LeaveLate();
  std::string StandingText() const;
  Result<> Patiently(const Result<>& outcome);
  Result<std::optional<int>> FetchTheRest();

  const Context& context_;
  ApiClient& api_;
  FollowOptions options_;
  Signals signals_;
  EventFeed feed_;
  HostPrinter printer_;
  LiveLog live_;
  ResultLines lines_;
  Progress progress_;

  std::string last_id_;
  bool connected_ = true;
  bool resync_ = false;  // fetch what was missed as soon as the stream is back
  Duration backoff_{0};
  std::optional<Clock::time_point> reconnect_at_;
  std::optional<Clock::time_point> refresh_at_;  // a fetch that failed is tried again
  Clock::time_point asked_at_{};                 // when a silent stream was last doubted
  std::optional<Clock::time_point> stages_at_;   // when the stages of a job are looked at again
  Clock::time_point looked_at_{};                // and when they were

  std::string state_;
  std::int64_t logs_open_ = 0;
  std::optional<Clock::time_point> logs_deadline_;
  bool offline_named_ = false;
  std::set<std::string> waits_named_;           // for a person, by KeyOf
  std::optional<Clock::time_point> person_at_;  // when runs that it started are looked at again
  bool for_a_person_ = false;                   // it waits for one, and nothing of it runs
  int failures_shown_ = 0;
  std::map<std::string, std::uint32_t> failed_shown_;  // hosts, and their failed attempt
};

}  // namespace muster::cli
