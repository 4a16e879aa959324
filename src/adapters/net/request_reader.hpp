#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/net/asio.hpp"
#include "adapters/net/http.hpp"
#include "adapters/net/limits.hpp"
#include "adapters/net/page_guard.hpp"

namespace muster::net {

// Reads one HTTP request out of bytes as they come, within the limits. Knows no socket.
class RequestReader {
 public:
  using Parser = beast::http::request_parser<beast::http::string_body>;
  using Request = Parser::value_type;
  enum class State { kHead, kJudge, kBody, kDone, kStreams, kRefused };
  using Streams = std::function<bool(std::string_view method, std::string_view target)>;
  using Check = std::function<std::optional<SourceProblem>(const Request& head)>;

  // `streams` says of which requests the body is not read here: with kStreams it still lies in the
  // buffer, or is to come. With `judged` every other body waits for Permit: kJudge. `check` says of
  // which requests not even the head is taken: kRefused.
  explicit RequestReader(const ServerLimits& limits, Streams streams = {}, bool judged = false,
                         Check check = {});

  // Takes what belongs to this request from the front of `in`.
  State Feed(beast::flat_buffer& in);

  // With kJudge: what the request is, without its body.
  HttpRequest Head() const;
  // With kJudge: takes a body of up to `most` bytes with the next Feed. False: it is said to be
  // longer; the answer is as with kRefused.
  bool Permit(std::size_t most);

  // With kBody: the client waits for "100 Continue". True once.
  bool WantsContinue();

  // Of the body, as its head says it; in chunks, with kStreams never, the most it may have.
  std::uint64_t BodyLength() const { return parser_.content_length().value_or(most_body_); }

  // With kDone, kStreams and kJudge; Release also when `check` refused it.
  bool KeepAlive() const { return parser_.keep_alive(); }
  Request Release() { return parser_.release(); }

  // With kRefused: how to answer, before the connection is closed.
  int status() const { return status_; }
  const std::string& reason() const { return reason_; }
  bool RefusedByCheck() const { return refused_by_check_; }

 private:
  State Refuse(int status, std::string reason);
  State Failed(error_code error);
  State CheckHead();
  State Done();
  bool HeadFits();

  const ServerLimits& limits_;
  const Streams streams_;
  const bool judged_;
  const Check check_;
  Parser parser_;
  std::size_t most_body_;
  std::size_t head_bytes_ = 0;  // taken while the head is not complete
  bool head_checked_ = false;
  std::optional<Request::header_type> head_;  // of a request in chunks, as it was checked
  bool continued_ = false;
  bool refused_by_check_ = false;
  int status_ = 0;
  std::string reason_;
};

// The request in plain words; the rest of it (remote, tls, peer_key) is the connection's to say.
HttpRequest PlainRequest(RequestReader::Request request);

}  // namespace muster::net
