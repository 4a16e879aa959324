#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// `muster run -o jsonl`: one line of JSON per host on stdout, as soon as the host has ended and its
// output is whole, with the first 64 KiB of each of its streams. Every host is printed once.
class ResultLines {
 public:
  ResultLines(ApiClient& api, std::string run) : api_(api), run_(std::move(run)) {}
  ResultLines(const ResultLines&) = delete;
  ResultLines& operator=(const ResultLines&) = delete;

  using Clock = std::chrono::steady_clock;

  // The host has ended; its line follows with one of the next calls of Print.
  void Ended(const std::string& host);
  // The same for every host that has ended, for a reader who may have missed some.
  Result<> FindEnded();
  // When Print has something to do; nothing when no host waits for its line.
  std::optional<Clock::time_point> Due() const { return due_; }
  // Prints hosts that wait, those whose output is whole. May be called again after a failure.
  Result<> Print();
  // The run has ended: prints every host that has no line yet. May be called again after a failure.
  Result<> PrintRest();

 private:
  Result<> PrintTask(const boost::json::value& task);

  ApiClient& api_;
  std::string run_;
  std::set<std::string> seen_;  // waiting, or printed
  std::set<std::string> printed_;
  std::deque<std::string> waiting_;
  std::optional<Clock::time_point> due_;
};

}  // namespace muster::cli
