#include "adapters/net/request_reader.hpp"

#include <fmt/format.h>

#include "adapters/net/chunk_guard.hpp"

namespace muster::net {

namespace http = beast::http;

RequestReader::RequestReader(const ServerLimits& limits) : limits_(limits) {
  parser_.eager(true);
  parser_.header_limit(static_cast<std::uint32_t>(limits.max_header));
  parser_.body_limit(limits.max_body);
}

RequestReader::State RequestReader::Feed(beast::flat_buffer& in) {
  error_code error;
  std::size_t taken = 0;
  while (!parser_.is_done() && !error && MayPut(parser_, in.size())) {
    std::size_t bytes = parser_.put(in.data(), error);
    in.consume(bytes);
    taken += bytes;
  }
  if (error && error != http::error::need_more) return Failed(error);
  if (!parser_.is_header_done()) {
    // The parser's own limit is for what it has not taken yet: lines that come one by one would add
    // up without end.
    head_bytes_ += taken;
    if (head_bytes_ + in.size() > limits_.max_header) return Failed(http::error::header_limit);
    return State::kHead;
  }
  if (!std::exchange(head_checked_, true) && !HeadFits()) return State::kRefused;
  return parser_.is_done() ? State::kDone : State::kBody;
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
    return Refuse(413, fmt::format("the body is larger than {} bytes", limits_.max_body));
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

HttpRequest PlainRequest(RequestReader::Request request) {
  HttpRequest plain;
  plain.method = request.method_string();
  plain.target = request.target();
  for (const auto& field : request) plain.headers.emplace_back(field.name_string(), field.value());
  plain.body = std::move(request.body());
  return plain;
}

}  // namespace muster::net
