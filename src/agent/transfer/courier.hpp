#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/net/client.hpp"
#include "agent/transfer/pace.hpp"
#include "link/server_choice.hpp"

namespace muster::agent {

// Carries artifacts between this host and its servers, by the identity in the agent's data folder.
// A connection that breaks is made again, to the next of the servers, with growing delays when all
// of them failed, for as long as it takes: the task's
// timeout ends it. What failed for good comes back: kNotFound, kDenied, kInvalid; errors of sinks
// and sources as they are.
class Courier {
 public:
  using Sink = std::function<Result<>(std::string_view piece)>;
  // As HttpClient::Source, from `offset` on.
  using Source =
      std::function<Result<std::size_t>(std::uint64_t offset, char* into, std::size_t room)>;
  using Say = std::function<void(const std::string& line)>;

  // `rate` is in bytes a second, 0 without limit. `say` gets a line when the server is away.
  Courier(std::string data, std::uint64_t rate, Say say);

  // Hands over the bytes from `offset` to `size`, in order.
  Result<> Fetch(const std::string& sha256, std::uint64_t size, std::uint64_t offset,
                 const Sink& sink);

  // Brings `size` bytes to the server, or only those it lacks. kInvalid: what was sent has another
  // hash.
  Result<> Send(const std::string& sha256, std::uint64_t size, const Source& source);

 private:
  Result<net::HttpClient*> Client();
  Result<std::string> Server();
  // Nothing when it is worth another try, which comes after a pause.
  std::optional<Error> Judge(const Result<net::HttpResponse>& answer);
  void Pause(const std::string& why);
  void Passed(std::size_t bytes);
  Result<net::HttpResponse> Ask(std::string method, const std::string& sha256);
  Result<net::HttpResponse> Put(const std::string& sha256, std::uint64_t size, std::uint64_t offset,
                                const Source& source, std::optional<Error>& source_failed);

  const std::string data_;
  const Say say_;
  Pace pace_;
  std::optional<link::ServerChoice> servers_;  // once it has connected
  std::optional<net::HttpClient> client_;
  Duration backoff_{};
  bool away_ = false;
};

}  // namespace muster::agent
