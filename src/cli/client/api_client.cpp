#include "cli/client/api_client.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include <boost/json.hpp>

#include "base/loopback.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/answer_json.hpp"
#include "cli/client/client_name.hpp"
#include "cli/client/page_guard.hpp"
#include "cli/client/token_file.hpp"
#include "domain/trace_parent.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

// The server speaks at least every 15 s, so this long a silence is a broken line.
constexpr Duration kStreamSilence = std::chrono::seconds(40);
constexpr std::size_t kMostObject = 16 << 20;  // bytes of a line with a JSON object

Result<std::string> ReadCaFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Fail(ErrorCode::kInvalid, "cannot read CA file '{}': {}", path, std::strerror(errno));
  return text.str();
}

// What to do when the server's certificate was not accepted.
std::string TrustHint(const Context& context) {
  if (context.ca_file.empty())
    return fmt::format("give its CA by --ca or MUSTER_CA, or log in: muster login {}",
                       context.server);
  if (context.saved_ca)
    return fmt::format(
        "if the CA of the server was changed, log in again: muster login {} --name {}",
        context.server, context.context);
  return fmt::format("if the CA of the server was changed, copy its ca.pem to {} again",
                     context.ca_file);
}

std::uint64_t HeaderNumber(const net::HttpResponse& response, std::string_view name) {
  const auto text = net::FindHeader(response.headers, name);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// One line for each thing that is wrong with documents, as a compiler writes it.
std::string ProblemLines(const json::value& error) {
  std::string lines;
  for (const auto& problem : ListOf(error, "details"))
    lines += fmt::format("{}{}:{}:{}: {}", lines.empty() ? "" : "\n", LineOf(problem, "file"),
                         NumberOf(problem, "line"), NumberOf(problem, "column"),
                         LineOf(problem, "message"));
  return lines;
}

// What is wrong, as the server says it; what it says to do, behind the semicolon, is for programs
// that write the header themselves.
std::string NoToken(const std::string& message) {
  return message.substr(0, message.find(';')) +
         "; give a valid token by --token, --token-file, MUSTER_TOKEN or MUSTER_TOKEN_FILE, or log "
         "in with 'muster login' (an admin makes tokens with 'muster tokens create')";
}

std::string NoMuster(std::string_view server, std::string_view answered) {
  return fmt::format(
      "{} answered {} and does not look like a Muster server; check --server, MUSTER_SERVER or the "
      "context in use",
      server, answered);
}

}  // namespace

std::string Segment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 0x80 && std::isalnum(byte) != 0) ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string ApiTarget(std::string_view path, const Query& query) {
  std::string target = fmt::format("/api/v1{}", path);
  char separator = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    target += fmt::format("{}{}={}", separator, name, Segment(value));
    separator = '&';
  }
  return target;
}

Error ErrorOfAnswer(int status, std::string_view body, std::string_view server) {
  boost::system::error_code problem;
  const auto answer = json::parse(body, problem);
  const json::value error = problem ? json::value() : FieldOf(answer, "error");
  const std::string code = TextOf(error, "code");
  std::string message = TextOf(error, "message");
  const bool of_a_proxy = status >= 500 && status != 501;
  if (message.empty() && !server.empty() && !of_a_proxy)
    return {status == 401 || status == 403 ? ErrorCode::kDenied : ErrorCode::kInvalid,
            NoMuster(server, fmt::format("with status {}", status))};
  if (message.empty()) message = fmt::format("the server answered with status {}", status);
  // What is wrong with a request may take several lines. Any other error is one: it may hold what
  // somebody else wrote, a freeze's reason for example.
  if (status != 400 && status != 422) message = VisibleLine(message);
  if (code == "invalid_documents") message = ProblemLines(error);
  if (code == "unauthenticated" || status == 401) return {ErrorCode::kDenied, NoToken(message)};
  if (code == "denied" || status == 403) return {ErrorCode::kDenied, message};
  if (code == "not_found" || code == "no_match" || status == 404)
    return {ErrorCode::kNotFound, message};
  if (code == "conflict" || status == 409) return {ErrorCode::kConflict, message};
  if (code == "timeout" || status == 504) return {ErrorCode::kTimeout, message};
  if (code == "unavailable" || status == 502 || status == 503)
    return {ErrorCode::kUnavailable, message};
  if (status >= 400 && status < 500) return {ErrorCode::kInvalid, message};
  const auto request = TextOf(error, "request_id");
  return {ErrorCode::kInternal,
          request.empty() ? message : fmt::format("{} (request {})", message, request)};
}

Result<ApiClient> ApiClient::Open(const Context& context) {
  if (context.problem) return Fail(*context.problem);
  auto servers = ServerLine::Parse(context.server);
  if (!servers) return Fail(servers.error());
  std::string token = context.token;
  std::string token_file;
  if (token.empty() && !context.token_file.empty()) {
    auto text = ReadTokenFile(context.token_file);
    if (!text) return Fail(text.error());
    token = std::move(*text);
    token_file = context.token_file;
  }
  for (const auto& server : *servers)
    if (!server.tls && !IsLoopback(server.host) && !token.empty())
      return Fail(ErrorCode::kInvalid,
                  "the token would travel unencrypted to {}; use https:// (plain http:// is for "
                  "loopback)",
                  server.host);
  net::TlsIdentity identity;
  if (!context.ca_file.empty()) {
    auto pem = ReadCaFile(context.ca_file);
    if (!pem) return Fail(pem.error());
    identity.ca_pem = std::move(*pem);
  }
  return ApiClient(
      ServerLine(std::move(*servers), identity, context.call_timeout, TrustHint(context)),
      std::move(token), std::move(token_file), context.verbose);
}

Error ApiClient::ErrorOf(const net::HttpResponse& response) const {
  auto error = ErrorOfAnswer(response.status, response.body, http_.Url());
  if (response.status == 401 && !token_file_.empty())
    error.message = fmt::format("the token in {} is not known at {}: {}", token_file_, http_.Url(),
                                error.message);
  return error;
}

Result<json::value> ApiClient::ParseBody(const net::HttpResponse& response) const {
  auto value = ParseAnswer(response.body);
  if (!value && value.error().code == ErrorCode::kInvalid)
    return Fail(ErrorCode::kInvalid, "{}", NoMuster(http_.Url(), "with something else than JSON"));
  return value;
}

net::HttpRequest ApiClient::Request(std::string_view method, std::string target) const {
  net::HttpRequest request;
  request.method = method;
  request.target = std::move(target);
  request.headers.emplace_back("User-Agent", ClientName());
  if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  return request;
}

Result<net::HttpResponse> ApiClient::Call(const net::HttpRequest& request) {
  const auto begun = std::chrono::steady_clock::now();
  auto response = http_.Call(request);
  if (verbose_)
    Write(stderr,
          fmt::format("{} {}: {} in {}\n", request.method, request.target,
                      response ? std::to_string(response->status) : response.error().message,
                      Lasted(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() -
                                                                  begun))));
  if (!response) return response;
  if (response->status >= 200 && response->status < 300) return response;
  return Fail(ErrorOf(*response));
}

Result<json::value> ApiClient::Get(std::string_view path, const Query& query) {
  const auto response = Call(Request("GET", ApiTarget(path, query)));
  if (!response) return Fail(response.error());
  return ParseBody(*response);
}

Result<json::value> ApiClient::Post(std::string_view path, const json::value& body,
                                    std::string_view key, const Query& query) {
  auto request = Request("POST", ApiTarget(path, query));
  request.headers.emplace_back("Content-Type", "application/json");
  if (!key.empty()) request.headers.emplace_back("Idempotency-Key", key);
  // Who works inside a trace, a build for example, finds what it started here in it.
  if (const char* trace = std::getenv("TRACEPARENT"); trace != nullptr && ParseTraceParent(trace))
    request.headers.emplace_back("traceparent", trace);
  request.body = json::serialize(body);
  const auto response = Call(request);
  if (!response) return Fail(response.error());
  return ParseBody(*response);
}

Result<json::value> ApiClient::Put(std::string_view path, const json::value& body) {
  auto request = Request("PUT", ApiTarget(path));
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = json::serialize(body);
  const auto response = Call(request);
  if (!response) return Fail(response.error());
  return ParseBody(*response);
}

Result<json::value> ApiClient::Delete(std::string_view path) {
  const auto response = Call(Request("DELETE", ApiTarget(path)));
  if (!response) return Fail(response.error());
  return ParseBody(*response);
}

Result<ApiClient::RawLog> ApiClient::GetRawLog(std::string_view run, const Query& query) {
  auto request = Request("GET", ApiTarget(fmt::format("/runs/{}/log", Segment(run)), query));
  request.headers.emplace_back("Accept", "application/octet-stream");
  auto response = Call(request);
  if (!response) return Fail(response.error());
  RawLog log;
  log.next = HeaderNumber(*response, "Muster-Next-Offset");
  log.state = net::FindHeader(response->headers, "Muster-Log-State");
  log.bytes = std::move(response->body);
  return log;
}

Result<LogPart> ApiClient::GetLog(std::string_view run, const Query& query) {
  auto request = Request("GET", ApiTarget(fmt::format("/runs/{}/log", Segment(run)), query));
  request.headers.emplace_back("Accept", "application/json");
  const auto response = Call(request);
  if (!response) return Fail(response.error());
  const auto body = ParseBody(*response);
  if (!body) return Fail(body.error());
  LogPart part;
  for (const auto& chunk : ListOf(*body, "chunks")) {
    auto data = FromBase64(TextOf(chunk, "data_base64"));
    if (!data) return Fail(ErrorCode::kInternal, "log of {}: a chunk is not base64", run);
    part.pieces.push_back({static_cast<std::uint64_t>(NumberOf(chunk, "offset")),
                           TextOf(chunk, "stream"), TextOf(chunk, "time"), std::move(*data)});
  }
  part.next = static_cast<std::uint64_t>(NumberOf(*body, "next"));
  part.state = TextOf(*body, "state");
  part.missing = TextOf(*body, "missing");
  part.attempt = static_cast<std::uint32_t>(NumberOf(*body, "attempt"));
  return part;
}

Result<ApiClient::ArtifactState> ApiClient::FindArtifact(std::string_view sha256) {
  const auto response =
      http_.Call(Request("HEAD", ApiTarget(fmt::format("/artifacts/{}", sha256))));
  if (!response) return Fail(response.error());
  if (response->status == 200) return ArtifactState{.there = true};
  if (response->status == 404)
    return ArtifactState{.uploaded = HeaderNumber(*response, "Muster-Upload-Offset")};
  return Fail(ErrorOfAnswer(response->status, response->body));
}

Result<> ApiClient::PutArtifact(std::string_view sha256, std::uint64_t size, std::uint64_t offset,
                                const net::HttpClient::Source& source) {
  auto request = Request("PUT", ApiTarget(fmt::format("/artifacts/{}", sha256)));
  request.headers.emplace_back("Content-Type", "application/octet-stream");
  if (size > 0)
    request.headers.emplace_back("Content-Range",
                                 fmt::format("bytes {}-{}/{}", offset, size - 1, size));
  const auto response = http_.Upload(request, size - offset, source);
  if (!response) return Fail(response.error());
  if (response->status == 200 || response->status == 201) return {};
  return Fail(ErrorOf(*response));
}

Result<> ApiClient::GetArtifact(std::string_view sha256, std::uint64_t offset,
                                const std::function<bool(std::string_view)>& on_data) {
  auto request = Request("GET", ApiTarget(fmt::format("/artifacts/{}", sha256)));
  if (offset > 0) request.headers.emplace_back("Range", fmt::format("bytes={}-", offset));
  const auto response = http_.Stream(request, kStreamSilence, on_data);
  if (!response) return Fail(response.error());
  if (response->status == (offset > 0 ? 206 : 200)) return {};
  return Fail(ErrorOf(*response));
}

Result<json::value> ApiClient::Pages(std::string_view path, Query query, std::string_view field,
                                     const std::function<bool(const json::value&)>& on_item) {
  Result<json::value> first;
  PageGuard guard;
  query.emplace_back("cursor", "");
  for (bool begun = false;; begun = true) {
    const auto response = Call(Request("GET", ApiTarget(path, query)));
    if (!response) return Fail(response.error());
    if (auto fits = guard.Keep(response->body.size()); !fits) return Fail(fits.error());
    auto page = ParseBody(*response);
    if (!page) return page;
    for (const auto& item : ListOf(*page, field))
      if (!on_item(item)) return begun ? first : page;
    const auto next = query.back().second = TextOf(*page, "next");
    const bool empty = ListOf(*page, field).empty();
    if (!begun) first = std::move(page);
    if (next.empty()) return first;
    if (auto ends = guard.Take(next, empty); !ends) return Fail(ends.error());
  }
}

Result<> ApiClient::Objects(std::string_view path, const Query& query,
                            const std::function<bool(const json::value&)>& on_object) {
  const auto request = Request("GET", ApiTarget(path, query));
  std::string begun;
  Result<> outcome;
  const auto take = [&](std::string_view bytes) {
    begun += bytes;
    std::size_t from = 0;
    for (auto end = begun.find('\n'); end != std::string::npos; end = begun.find('\n', from)) {
      const auto line = std::string_view(begun).substr(from, end - from);
      from = end + 1;
      if (line.empty()) continue;
      const auto object = ParseAnswer(line);
      if (!object)
        outcome = Fail(ErrorCode::kInternal, "{}: a line of the answer: {}", path,
                       object.error().message);
      if (!object || !on_object(*object)) return false;
    }
    begun.erase(0, from);
    if (begun.size() > kMostObject)
      outcome = Fail(ErrorCode::kInternal, "{}: a line of the answer is too long", path);
    return begun.size() <= kMostObject;
  };
  const auto response = http_.Stream(request, kStreamSilence, take);
  if (!response) return Fail(response.error());
  if (response->status != 200) return Fail(ErrorOf(*response));
  return outcome;
}

Result<> ApiClient::Events(const Query& query, const std::function<bool(SseEvent)>& on_event,
                           const std::function<bool()>& on_bytes) {
  auto request = Request("GET", ApiTarget("/stream", query));
  request.headers.emplace_back("Accept", "text/event-stream");
  SseParser parser;
  const auto response = http_.Stream(request, kStreamSilence, [&](std::string_view bytes) {
    return (!on_bytes || on_bytes()) && parser.Feed(bytes, on_event);
  });
  if (parser.TooLong())
    return Fail(ErrorCode::kInternal,
                "an event of the server is too long; is this a Muster server?");
  if (!response) return Fail(response.error());
  if (response->status != 200) return Fail(ErrorOf(*response));
  return {};
}

std::string NewKey() {
  std::random_device random;
  std::string key;
  for (int i = 0; i < 4; ++i) key += fmt::format("{:08x}", random());
  return key;
}

}  // namespace muster::cli
