#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/instant.hpp"
#include "base/mutex.hpp"
#include "server/runtime/allowance.hpp"

namespace muster::server {

enum class Failure : std::uint8_t {
  kToken = 0,  // an API call without a valid token
  kJoin = 1,   // a join that was not let in
  kLink = 2,   // a TLS handshake or a link that was not let in
};
constexpr std::size_t kFailures = 3;

// Counts who fails to get in, by source (net::SourceOf), and says who should wait. Only failures
// count: whoever shares an address with a guesser and has a valid token never notices. A source's
// first failure is logged at once, further ones together, once a minute. Its memory is bounded:
// past `most_sources` all others share one entry. Safe from any thread; reads no clock.
class FailureWatch {
 public:
  struct Settings {
    std::uint32_t per_minute = 30;     // failures before a source is asked to wait
    std::size_t most_sources = 4'096;  // that failed within about the last minute
  };
  using Log = std::function<void(const std::string& line)>;

  FailureWatch(Settings settings, Log log);

  // Counts one. How long to wait, when the source has failed too often.
  std::optional<std::chrono::seconds> Failed(std::string_view source, Failure kind, MonoTime now);

  // Logs what came together and forgets who is quiet. Call it several times a minute.
  void Sweep(MonoTime now);

  std::size_t Sources() const;
  std::uint64_t Total(Failure kind) const;  // ever

 private:
  struct Entry {
    Allowance allowance;
    std::array<std::uint64_t, kFailures> untold{};
    MonoTime next_line;
  };

  Entry& EntryOf(std::string_view source, MonoTime now, std::string& name) REQUIRES(mutex_);
  // The line that is due, "" when none is.
  static std::string TakeLine(const std::string& name, Entry& entry, MonoTime now);

  const Settings settings_;
  const Log log_;
  mutable base::Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_ GUARDED_BY(mutex_);
  std::array<std::uint64_t, kFailures> totals_ GUARDED_BY(mutex_){};
};

}  // namespace muster::server
