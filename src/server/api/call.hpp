#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "adapters/net/server.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"
#include "server/auth/authenticator.hpp"

namespace muster::server::api {

// One HTTP call on its way through a handler: what was asked, and how to answer. Shared by the
// handler and whatever callback finishes it.
class Call {
 public:
  Call(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
       std::string request_id);

  const net::HttpRequest& request() const { return request_; }
  net::HttpRequest TakeRequest() { return std::move(request_); }  // for who answers it instead
  const std::shared_ptr<net::HttpExchange>& exchange() const { return exchange_; }
  const Actor& actor() const { return actor_; }
  std::string_view Path() const { return path_; }
  // The path in the one spelling that all spellings of it have in common.
  std::string PlainPath() const;

  // A part of the path by its name in the route's pattern, decoded; "" when the pattern has none.
  const std::string& Part(const std::string& name) const;
  // A parameter of the query, decoded; "" when absent.
  const std::string& Query(const std::string& name) const;
  // The query has more parameters than any route, and none of them was read.
  bool HasLongQuery() const { return has_long_query_; }
  // A whole number of the query within [least, most], `otherwise` when absent.
  Result<std::uint64_t> QueryNumber(const std::string& name, std::uint64_t otherwise,
                                    std::uint64_t least, std::uint64_t most) const;
  // "true" or "false" of the query; false when absent. kInvalid: another text, so that a call with
  // `dry_run=1` does not do what it should only tell.
  Result<bool> QueryFlag(const std::string& name) const;
  // The body as a JSON object; kInvalid says where it is wrong.
  Result<boost::json::object> Body() const;

  void Json(int status, const boost::json::value& body, net::Headers headers = {});
  void Text(int status, std::string type, std::string body, net::Headers headers = {});
  // 200 with a text that many answers share.
  void Shared(std::string type, std::shared_ptr<const std::string> body);
  void Fail(const Error& error);
  // An error whose code is not one of ErrorCode's.
  void Fail(int status, std::string_view code, std::string_view message, net::Headers headers = {});

  // One that has parts, each an object of its own.
  void FailWith(int status, std::string_view code, std::string_view message,
                boost::json::array details);

  void SetActor(Actor actor) { actor_ = std::move(actor); }
  // Work for one call ends after so long.
  static constexpr Duration kLongestWork = std::chrono::minutes(1);

  // Whether the answer is still worth its work. A handler whose work grows with what was asked for
  // looks here between two pieces of it, and fails the call with what this says. kTimeout: the work
  // takes longer than kLongestWork. kUnavailable: the client has gone, or the server is stopping.
  // kDenied: the token of the caller has ended. From any thread.
  Result<> GoesOn() const;
  // The same for work that is done whether or not its client waits for the answer.
  Result<> IsAllowed() const { return watch_ ? watch_(*this) : Result<>{}; }
  using Watch = std::function<Result<>(const Call& call)>;
  void SetWatch(Watch watch) { watch_ = std::move(watch); }
  void BeginWork(MonoTime now) { began_ = now; }
  MonoTime began() const { return began_; }

  // Called once the handler denies the call to a caller who was let in (403), from any thread.
  using Denied = std::function<void(const Call& call, std::string_view why)>;
  void SetDenied(Denied denied) { denied_ = std::move(denied); }
  // Decodes them. False: one is no UTF-8 or has control characters, which no name has.
  bool SetParts(std::map<std::string, std::string> parts);

 private:
  boost::json::value ErrorBody(std::string_view code, std::string_view message,
                               boost::json::array details) const;

  net::HttpRequest request_;
  std::shared_ptr<net::HttpExchange> exchange_;
  std::string request_id_;
  std::string path_;
  std::map<std::string, std::string> parts_;
  std::map<std::string, std::string> query_;
  bool has_long_query_ = false;
  Actor actor_;
  Denied denied_;
  Watch watch_;
  MonoTime began_;  // the work; known once a worker has it
};

using CallPtr = std::shared_ptr<Call>;

// Asks Call::GoesOn, for work that knows no calls. The call outlives it.
inline std::function<Result<>()> GoOnFor(const Call& call) {
  return [&call] { return call.GoesOn(); };
}

}  // namespace muster::server::api
