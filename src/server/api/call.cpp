#include "server/api/call.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/ids.hpp"
#include "server/api/query_object.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kDenied:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kFenced:
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kTimeout:
      return 504;
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

// %41 as itself, and in a query + too, as browsers write them; a broken escape stays as it is.
std::string Decode(std::string_view text, char space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += space;
    } else if (text[i] == '%' && i + 2 < text.size()) {
      if (const auto byte = FromHex(text.substr(i + 1, 2))) {
        out += *byte;
        i += 2;
      } else {
        out += '%';
      }
    } else {
      out += text[i];
    }
  }
  return out;
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

const std::string kNone;

// Parameters of a query. No route has a tenth of them.
constexpr std::ptrdiff_t kMostPairs = 100;

const std::string& Find(const std::map<std::string, std::string>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? kNone : found->second;
}

}  // namespace

Call::Call(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange,
           std::string request_id)
    : request_(std::move(request)),
      exchange_(std::move(exchange)),
      request_id_(std::move(request_id)) {
  const std::string_view target = request_.target;
  const auto mark = target.find('?');
  path_ = target.substr(0, mark);
  if (mark == std::string_view::npos) return;
  const std::string_view query = target.substr(mark + 1);
  has_long_query_ = std::ranges::count(query, '&') >= kMostPairs;
  if (has_long_query_) return;
  for (const auto pair : Split(query, '&')) {
    const auto equals = pair.find('=');
    const auto value =
        equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    query_[Decode(pair.substr(0, equals), ' ')] = Decode(value, ' ');
  }
}

bool Call::SetParts(std::map<std::string, std::string> parts) {
  parts_ = std::move(parts);
  for (auto& [name, text] : parts_) {
    text = Decode(text, '+');
    if (!IsUtf8(text) || std::ranges::any_of(text, [](unsigned char c) { return c < ' '; }))
      return false;
  }
  return true;
}

std::string Call::PlainPath() const {
  std::string plain;
  std::string before;
  for (const auto segment : Split(std::string_view(path_), '/')) {
    if (segment.data() != path_.data()) plain += '/';
    std::string text = Decode(segment, '+');
    // A run may be called r7 or 7.
    if (before == "runs")
      if (const auto run = ParseRunId(text)) text = FormatRunId(*run);
    before = text;
    for (const char c : text)
      plain +=
          IsPlain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return plain;
}

const std::string& Call::Part(const std::string& name) const { return Find(parts_, name); }
const std::string& Call::Query(const std::string& name) const { return Find(query_, name); }

std::map<std::string, std::string> QueryObject(std::string_view target, std::string_view name) {
  std::map<std::string, std::string> object;
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return object;
  const std::string begin = fmt::format("{}[", name);
  for (const auto pair : Split(target.substr(mark + 1), '&')) {
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = Decode(pair.substr(0, equals), ' ');
    if (key.size() <= begin.size() || !key.starts_with(begin) || !key.ends_with(']')) continue;
    object[key.substr(begin.size(), key.size() - begin.size() - 1)] =
        Decode(pair.substr(equals + 1), ' ');
  }
  return object;
}

Result<std::uint64_t> Call::QueryNumber(const std::string& name, std::uint64_t otherwise,
                                        std::uint64_t least, std::uint64_t most) const {
  const std::string& text = Query(name);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number < least || number > most)
    return muster::Fail(ErrorCode::kInvalid, "{}: expected a whole number from {} to {}", name,
                        least, most);
  return number;
}

Result<bool> Call::QueryFlag(const std::string& name) const {
  const std::string& text = Query(name);
  if (text.empty() || text == "false") return false;
  if (text == "true") return true;
  return muster::Fail(ErrorCode::kInvalid, "{}: expected true or false", name);
}

Result<json::object> Call::Body() const {
  boost::system::error_code problem;
  json::parse_options options;
  options.max_depth = 16;
  json::value value = json::parse(request_.body, problem, {}, options);
  if (problem)
    return muster::Fail(ErrorCode::kInvalid, "the body is not JSON: {}", problem.message());
  if (!value.is_object())
    return muster::Fail(ErrorCode::kInvalid, "the body must be a JSON object");
  return std::move(value.as_object());
}

Result<> Call::GoesOn() const {
  if (exchange_->Gone())
    return muster::Fail(ErrorCode::kUnavailable, "the client did not wait for the answer");
  return IsAllowed();
}

void Call::Json(int status, const json::value& body, net::Headers headers) {
  Text(status, "application/json", json::serialize(body) + "\n", std::move(headers));
}

void Call::Text(int status, std::string type, std::string body, net::Headers headers) {
  headers.emplace_back("Content-Type", std::move(type));
  headers.emplace_back("Muster-Request-Id", request_id_);
  exchange_->Respond({status, std::move(headers), std::move(body)});
}

void Call::Shared(std::string type, std::shared_ptr<const std::string> body) {
  net::Headers headers{{"Content-Type", std::move(type)}, {"Muster-Request-Id", request_id_}};
  exchange_->Respond({200, std::move(headers), {}, std::move(body)});
}

void Call::Fail(const Error& error) { Fail(StatusOf(error.code), Name(error.code), error.message); }

void Call::Fail(int status, std::string_view code, std::string_view message, net::Headers headers) {
  if (const auto denied = std::exchange(denied_, nullptr); denied && status == 403)
    denied(*this, message);
  Json(status, ErrorBody(code, message, {}), std::move(headers));
}

void Call::FailWith(int status, std::string_view code, std::string_view message,
                    json::array details) {
  if (const auto denied = std::exchange(denied_, nullptr); denied && status == 403)
    denied(*this, message);
  Json(status, ErrorBody(code, message, std::move(details)));
}

json::value Call::ErrorBody(std::string_view code, std::string_view message,
                            json::array details) const {
  const std::string safe =
      IsUtf8(message) ? std::string(message) : "the message is not readable text";
  return {{"error",
           {{"code", code},
            {"message", safe},
            {"params", json::object()},
            {"details", std::move(details)},
            {"request_id", request_id_}}}};
}

}  // namespace muster::server::api
