#include "adapters/net/request_reader.hpp"

#include <fmt/format.h>

#include "adapters/net/chunk_guard.hpp"

namespace muster::net {

namespace http = beast::http;

namespace {

HttpRequest PlainHead(const RequestReader::Request& request) {
  HttpRequest plain;
  plain.method = request.method_string();
  plain.target = request.target();
  for (const auto& field : request) plain.headers.emplace_back(field.name_string(), field.value());
  return plain;
}

// What a proxy in front of this server could take for another request than it is here; "" if
// nothing. The parser takes a body as none when it does not know its encoding, and what it holds as
// the next request.
std::string_view FramingProblem(const RequestReader::Request& request) {
  const auto encodings = request.count(http::field::transfer_encoding);
  if (encodings > 1 ||
      (encodings == 1 && !beast::iequals(request[http::field::transfer_encoding], "chunked")))
    return "Transfer-Encoding: only 'chunked' is known, and only once";
  if (encodings == 1 && request.version() < 11)
    return "Transfer-Encoding: HTTP/1.0 does not have it";
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11))
    return "Host: a request names the server once";
  return "";
}

}  // namespace

RequestReader::RequestReader(const ServerLimits& limits, Streams streams, bool judged, Check check)
    : limits_(limits),
      streams_(std::move(streams)),
      judged_(judged),
      check_(std::move(check)),
      most_body_(limits.max_body) {
  // First the head alone: whose body is whose business is seen from it.
  parser_.eager(false);
  parser_.header_limit(static_cast<std::uint32_t>(limits.max_header));
  parser_.body_limit(boost::none);
}

RequestReader::State RequestReader::Feed(beast::flat_buffer& in) {
  error_code error;
  std::size_t taken = 0;
  while (!parser_.is_done() && !error && MayPut(parser_, in.size())) {
    std::size_t bytes = parser_.put(in.data(), error);
    in.consume(bytes);
    taken += bytes;
    if (error || !parser_.is_header_done() || std::exchange(head_checked_, true)) continue;
    if (const State state = CheckHead(); state != State::kBody) return state;
  }
  if (error && error != http::error::need_more) return Failed(error);
  if (!parser_.is_header_done()) {
    // The parser's own limit is for what it has not taken yet: lines that come one by one would add
    // up without end.
    head_bytes_ += taken;
    if (head_bytes_ + in.size() > limits_.max_header) return Failed(http::error::header_limit);
    return State::kHead;
  }
  if (parser_.is_done()) return Done();
  // Of a body in chunks the parser leaves what has no end yet: the line before a chunk, or all that
  // follows the last one.
  if (in.size() > limits_.max_header && parser_.chunked()) return Failed(http::error::header_limit);
  return State::kBody;
}

// What follows a body is no part of the head: it was not there when that was checked.
RequestReader::State RequestReader::Done() {
  if (head_) parser_.get().base() = std::move(*head_);
  head_.reset();
  return State::kDone;
}

RequestReader::State RequestReader::CheckHead() {
  if (!HeadFits()) return State::kRefused;
  const Request& request = parser_.get();
  if (auto problem = check_ ? check_(request) : std::nullopt) {
    refused_by_check_ = true;
    return Refuse(problem->status, std::move(problem->reason));
  }
  if (const auto problem = FramingProblem(request); !problem.empty())
    return Refuse(400, std::string(problem));
  const auto length = parser_.content_length();
  if (!parser_.is_done() && streams_ && streams_(request.method_string(), request.target())) {
    if (!length) return Refuse(411, "say how long the body is: Content-Length");
    return State::kStreams;
  }
  if (length && *length > limits_.max_body) return Failed(http::error::body_limit);
  if (judged_ && !parser_.is_done()) return State::kJudge;
  return Permit(limits_.max_body) ? State::kBody : State::kRefused;
}

bool RequestReader::Permit(std::size_t most) {
  most_body_ = most;
  const auto length = parser_.content_length();
  if (length && *length > most) {
    Failed(http::error::body_limit);
    return false;
  }
  if (parser_.chunked()) head_ = parser_.get().base();
  parser_.body_limit(most);
  parser_.eager(true);
  return true;
}

bool RequestReader::HeadFits() {
  const Request& request = parser_.get();
  if (request.target().size() > limits_.max_url) {
    Refuse(414, fmt::format("the URL is longer than {} bytes", limits_.max_url));
    return false;
  }
  std::size_t fields = 0;
  std::size_t bytes = request.method_string().size() + request.target().size();
  for (const auto& field : request) {
    ++fields;
    bytes += field.name_string().size() + field.value().size();
  }
  if (fields > limits_.max_header_fields) {
    Refuse(431, fmt::format("the header has more than {} fields", limits_.max_header_fields));
    return false;
  }
  if (bytes > limits_.max_header) Failed(http::error::header_limit);
  return status_ == 0;
}

bool RequestReader::WantsContinue() {
  if (continued_ || !beast::iequals(parser_.get()[http::field::expect], "100-continue")) {
    return false;
  }
  continued_ = true;
  return true;
}

RequestReader::State RequestReader::Failed(error_code error) {
  if (error == http::error::body_limit) {
    return Refuse(413, fmt::format("the body is larger than {} bytes; send less at once, or raise "
                                   "{} of the server",
                                   most_body_,
                                   most_body_ < limits_.max_body ? "limits.max_open_body"
                                                                 : "limits.max_body"));
  }
  if (error == http::error::header_limit) {
    return Refuse(431, fmt::format("the header is larger than {} bytes", limits_.max_header));
  }
  return Refuse(400, fmt::format("not an HTTP request: {}", error.message()));
}

RequestReader::State RequestReader::Refuse(int status, std::string reason) {
  status_ = status;
  reason_ = std::move(reason);
  return State::kRefused;
}

HttpRequest RequestReader::Head() const { return PlainHead(parser_.get()); }

HttpRequest PlainRequest(RequestReader::Request request) {
  HttpRequest plain = PlainHead(request);
  plain.body = std::move(request.body());
  return plain;
}

}  // namespace muster::net
