#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "adapters/etcd/etcd_options.hpp"
#include "adapters/etcd/session.hpp"
#include "adapters/net/client.hpp"
#include "base/result.hpp"

namespace muster::etcd {

// kInvalid says what is wrong with an address, or that it is plain http:// and not loopback.
Result<std::vector<net::Endpoint>> ParseEndpoints(const std::vector<std::string>& urls);

// One thread's way to etcd: stays with the endpoint that last answered, and goes on to the next
// when that does not answer in time, speaks of no leader, or is not etcd at all. Not thread-safe,
// but for Abort and Hurry.
class Gateway {
 public:
  // One of those that share a session logs in when a user is given, and again when the token is
  // refused; the others wait for it.
  enum class Role { kLogsIn, kFollows };
  // `timeout` bounds each request to one endpoint. `session` outlives it.
  Gateway(std::vector<net::Endpoint> endpoints, const EtcdOptions& options, Duration timeout,
          Session& session, Role role);

  // Says something that is safe to say twice, as an unclear answer makes it be said to the next
  // endpoint. kUnavailable: nobody answered; the message has what each one did. Other codes are
  // etcd's own word (ReadAnswer).
  using Answer = Result<boost::json::object>;
  Answer Ask(std::string_view path, const std::string& body);
  // The same with one try; the next call begins with the next endpoint when this one failed.
  Answer AskOnce(std::string_view path, const std::string& body);
  // The answer as `read` takes it; whoever answers what cannot be read is not asked next.
  template <typename T>
  Result<T> AskFor(std::string_view path, const std::string& body,
                   Result<T> (*read)(const boost::json::object&)) {
    return Read(Ask(path, body), read);
  }
  template <typename T>
  Result<T> AskOnceFor(std::string_view path, const std::string& body,
                       Result<T> (*read)(const boost::json::object&)) {
    return Read(AskOnce(path, body), read);
  }

  // Hands over one message of a stream after the other until `on_message` returns false (then the
  // result is good), nothing comes for `idle`, or the connection breaks.
  using OnMessage = std::function<bool(const boost::json::object&)>;
  Result<> Follow(std::string_view path, const std::string& body, Duration idle,
                  const OnMessage& on_message);

  // The endpoint that the next call goes to first.
  std::size_t Current() const { return current_; }

  // From any thread: ends the call under way and all later ones.
  void Abort();
  // From any thread: from now on each call tries one endpoint only.
  void Hurry() { hurry_ = true; }

 private:
  template <typename T>
  Result<T> Read(const Answer& answer, Result<T> (*read)(const boost::json::object&)) {
    if (!answer) return Fail(answer.error());
    auto taken = read(*answer);
    if (taken) return taken;
    Error error = {ErrorCode::kUnavailable,
                   fmt::format("{}: {}; is it etcd?", NameOfCurrent(), taken.error().message)};
    MoveOn();
    return Fail(std::move(error));
  }
  void MoveOn() { current_ = (current_ + 1) % clients_.size(); }
  Result<net::HttpResponse> Send(std::string_view path, const std::string& body, Duration silence);
  Answer AskCurrent(std::string_view path, const std::string& body);
  Answer AskKnown(std::string_view path, const std::string& body, Duration silence);
  Result<> Identify();  // sees to a token, when one is needed
  Result<> LogIn();
  net::HttpRequest RequestOf(std::string_view path, const std::string& body) const;
  std::string NameOfCurrent() const;

  const std::vector<net::Endpoint> endpoints_;
  const std::string user_;
  const SecretText password_;
  const Duration timeout_;
  Session& session_;
  const Role role_;
  std::vector<net::HttpClient> clients_;  // one for each endpoint
  std::size_t current_ = 0;
  Error refused_;                                     // the last login, and
  std::chrono::steady_clock::time_point next_login_;  // not before
  std::atomic<bool> hurry_ = false;
};

}  // namespace muster::etcd
