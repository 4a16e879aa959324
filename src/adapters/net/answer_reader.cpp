#include "adapters/net/answer_reader.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "adapters/net/chunk_guard.hpp"

namespace muster::net {
namespace {

namespace http = beast::http;

// More is a server that never comes to the point.
constexpr int kMostInterim = 16;
// What may wait for the rest of a line between two chunks, or after the last.
constexpr std::size_t kMostBetween = 64 * 1024;

bool IsHopByHop(std::string_view name) noexcept {
  constexpr std::string_view kNames[] = {
      "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Proxy-Authorization",
      "TE",         "Trailer",    "Transfer-Encoding",  "Upgrade"};
  return std::ranges::any_of(kNames, [name](std::string_view one) { return SameName(one, name); });
}

// "close, X-Mine" names two.
void AddNames(std::vector<std::string>& names, std::string_view list) {
  constexpr std::string_view kBlank = " \t";
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const std::size_t begin = name.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) continue;
    names.emplace_back(name.substr(begin, name.find_last_not_of(kBlank) - begin + 1));
  }
}

}  // namespace

Headers WithoutHopByHop(Headers headers) {
  std::vector<std::string> named;
  for (const auto& [name, value] : headers) {
    if (SameName(name, "Connection")) AddNames(named, value);
  }
  std::erase_if(headers, [&named](const auto& header) {
    return IsHopByHop(header.first) || std::ranges::any_of(named, [&header](const auto& name) {
             return SameName(name, header.first);
           });
  });
  return headers;
}

AnswerReader::AnswerReader(bool head_only, std::size_t max_head)
    : head_only_(head_only), max_head_(max_head) {
  Renew();
}

void AnswerReader::Renew() {
  parser_.emplace();
  // First the head alone: the guard of chunks needs to know of them before they come.
  parser_->eager(false);
  parser_->header_limit(static_cast<std::uint32_t>(max_head_));
  parser_->body_limit(boost::none);
  if (head_only_) parser_->skip(true);
}

AnswerReader::State AnswerReader::Feed(beast::flat_buffer& in) {
  if (!reason_.empty()) return State::kRefused;
  heard_ = heard_ || in.size() > 0;
  error_code error;
  while (!parser_->is_done() && !error && MayPut(*parser_, in.size())) {
    const std::size_t bytes = parser_->put(in.data(), error);
    in.consume(bytes);
    if (!parser_->is_header_done()) head_bytes_ += bytes;
    if (error || !parser_->is_header_done() || head_read_) continue;
    if (OnHead() == State::kRefused) return State::kRefused;
  }
  if (error && error != http::error::need_more) {
    return Refuse(fmt::format("its answer is not HTTP: {}", error.message()));
  }
  if (!head_read_) {
    // The parser's own limit is for what it has not taken yet.
    if (head_bytes_ + in.size() > max_head_) return Refuse("the head of its answer is too long");
    return State::kHead;
  }
  if (parser_->is_done()) return State::kDone;
  if (in.size() > kMostBetween) return Refuse("its answer is not HTTP: a chunk without an end");
  return State::kBody;
}

AnswerReader::State AnswerReader::OnHead() {
  const auto& message = parser_->get();
  const int status = static_cast<int>(message.result_int());
  if (status / 100 == 1) {
    if (status == 101 || ++interim_ > kMostInterim) {
      return Refuse(fmt::format("it answered with status {}, which nobody asked for", status));
    }
    Renew();
    return State::kHead;
  }
  if (status < 200 || status > 599) {
    return Refuse(fmt::format("it answered with status {}, which means nothing", status));
  }
  head_read_ = true;
  head_.status = status;
  for (const auto& field : message) head_.headers.emplace_back(field.name_string(), field.value());
  head_.headers = WithoutHopByHop(std::move(head_.headers));
  if (status == 204 || status == 304) {
    head_.framing = Framing::kNone;
  } else if (parser_->chunked()) {
    head_.framing = Framing::kChunked;
  } else if (parser_->content_length()) {
    head_.framing = Framing::kLength;
    head_.length = *parser_->content_length();
  } else {
    head_.framing = Framing::kUntilClose;
  }
  parser_->eager(true);
  return State::kBody;
}

AnswerReader::State AnswerReader::Finish() {
  if (!reason_.empty()) return State::kRefused;
  error_code error;
  if (head_read_ && !parser_->is_done()) parser_->put_eof(error);
  if (head_read_ && !error && parser_->is_done()) return State::kDone;
  cut_ = true;
  return Refuse("it closed the connection before its answer was whole");
}

std::string AnswerReader::TakeBody() {
  return head_read_ ? std::exchange(parser_->get().body(), {}) : std::string();
}

bool AnswerReader::KeepAlive() const { return parser_->keep_alive(); }

AnswerReader::State AnswerReader::Refuse(std::string reason) {
  reason_ = std::move(reason);
  return State::kRefused;
}

}  // namespace muster::net
