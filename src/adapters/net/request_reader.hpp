#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/net/asio.hpp"
#include "adapters/net/http.hpp"
#include "adapters/net/limits.hpp"

namespace muster::net {

// Reads one HTTP request out of bytes as they come, within the limits. Knows no socket.
class RequestReader {
 public:
  using Parser = beast::http::request_parser<beast::http::string_body>;
  using Request = Parser::value_type;
  enum class State { kHead, kBody, kDone, kStreams, kRefused };
  using Streams = std::function<bool(std::string_view method, std::string_view target)>;

  // `streams` says of which requests the body is not read here: with kStreams it still lies in the
  // buffer, or is to come.
  explicit RequestReader(const ServerLimits& limits, Streams streams = {});

  // Takes what belongs to this request from the front of `in`.
  State Feed(beast::flat_buffer& in);

  // With kBody: the client waits for "100 Continue". True once.
  bool WantsContinue();

  // With kStreams.
  std::uint64_t BodyLength() const { return body_length_; }

  // With kDone and kStreams.
  bool KeepAlive() const { return parser_.keep_alive(); }
  Request Release() { return parser_.release(); }

  // With kRefused: how to answer, before the connection is closed.
  int status() const { return status_; }
  const std::string& reason() const { return reason_; }

 private:
  State Refuse(int status, std::string reason);
  State Failed(error_code error);
  State CheckHead();
  State Done();
  bool HeadFits();

  const ServerLimits& limits_;
  const Streams streams_;
  Parser parser_;
  std::size_t head_bytes_ = 0;  // taken while the head is not complete
  bool head_checked_ = false;
  std::optional<Request::header_type> head_;  // of a request in chunks, as it was checked
  bool continued_ = false;
  std::uint64_t body_length_ = 0;
  int status_ = 0;
  std::string reason_;
};

// The request in plain words; the rest of it (remote, tls, peer_key) is the connection's to say.
HttpRequest PlainRequest(RequestReader::Request request);

}  // namespace muster::net
