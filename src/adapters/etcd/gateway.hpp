#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "adapters/etcd/etcd_options.hpp"
#include "adapters/net/client.hpp"
#include "base/result.hpp"

namespace muster::etcd {

// kInvalid says what is wrong with an address.
Result<std::vector<net::Endpoint>> ParseEndpoints(const std::vector<std::string>& urls);

// One thread's way to etcd: stays with the endpoint that last answered, and goes on to the next
// when that does not answer in time, speaks of no leader, or is not etcd at all. Logs in when a
// user is given, and again when its token is refused. Not thread-safe, but for Abort and Hurry.
class Gateway {
 public:
  // `options` has checked endpoints; `timeout` bounds each request to one endpoint.
  Gateway(std::vector<net::Endpoint> endpoints, const EtcdOptions& options, Duration timeout);

  // Says something that is safe to say twice, as an unclear answer makes it be said to the next
  // endpoint. kUnavailable: nobody answered; the message has what each one did. Other codes are
  // etcd's own word (ReadAnswer).
  using Answer = Result<boost::json::object>;
  Answer Ask(std::string_view path, const std::string& body);
  // The same with one try; the next call begins with the next endpoint when this one failed.
  Answer AskOnce(std::string_view path, const std::string& body);

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
  Result<net::HttpResponse> Send(std::string_view path, const std::string& body);
  Answer AskCurrent(std::string_view path, const std::string& body);
  Answer AskKnown(std::string_view path, const std::string& body);
  Result<> LogIn();
  net::HttpRequest RequestOf(std::string_view path, const std::string& body) const;
  std::string NameOfCurrent() const;

  const std::vector<net::Endpoint> endpoints_;
  const std::string user_;
  const SecretText password_;
  const Duration timeout_;
  std::vector<net::HttpClient> clients_;  // one for each endpoint
  std::size_t current_ = 0;
  SecretText token_;  // empty before the first login, and where etcd wants none
  std::atomic<bool> hurry_ = false;
};

}  // namespace muster::etcd
