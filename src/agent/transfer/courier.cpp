#include "agent/transfer/courier.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <thread>

#include "agent/host/clocks.hpp"
#include "agent/identity.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr Duration kCallTimeout = std::chrono::seconds(30);
constexpr Duration kSilence = std::chrono::seconds(60);
constexpr Duration kFirstPause = std::chrono::milliseconds(250);
constexpr Duration kLongestPause = std::chrono::seconds(20);

// Read anew for each connection: certificates are renewed while a long transfer runs.
Result<net::HttpClient> Connect(const std::string& data, const std::string& server) {
  auto endpoint = net::ParseEndpoint(server);
  if (!endpoint) return Fail(endpoint.error());
  net::TlsIdentity identity;
  const std::array files = {std::pair{"/agent.key", &identity.key_pem},
                            std::pair{"/agent.crt", &identity.cert_pem},
                            std::pair{"/ca.pem", &identity.ca_pem}};
  for (const auto& [name, pem] : files) {
    auto read = ReadFile(data + name);
    if (!read) return Fail(read.error());
    *pem = std::move(*read);
  }
  identity.cluster = true;
  return net::HttpClient(std::move(*endpoint), std::move(identity), kCallTimeout);
}

// What the API's error form says, without a parser: `"message":"…"`.
std::string MessageOf(const net::HttpResponse& response) {
  constexpr std::string_view kMark = "\"message\":\"";
  const auto begin = response.body.find(kMark);
  if (begin == std::string::npos) return fmt::format("status {}", response.status);
  std::string text;
  for (std::size_t at = begin + kMark.size(); at < response.body.size(); ++at) {
    if (response.body[at] == '"') break;
    if (response.body[at] == '\\') ++at;
    if (at < response.body.size()) text += response.body[at];
  }
  return text;
}

std::uint64_t OffsetOf(const net::HttpResponse& response) {
  const auto text = net::FindHeader(response.headers, "Muster-Upload-Offset");
  std::uint64_t offset = 0;
  std::from_chars(text.data(), text.data() + text.size(), offset);
  return offset;
}

net::HttpRequest Request(std::string method, const std::string& sha256) {
  return {.method = std::move(method), .target = "/api/v1/artifacts/" + ToHex(sha256)};
}

}  // namespace

Courier::Courier(std::string data, std::uint64_t rate, Say say)
    : data_(std::move(data)), say_(std::move(say)), pace_(rate) {}

Result<net::HttpClient*> Courier::Client() {
  if (!client_) {
    auto server = Server();
    if (!server) return Fail(server.error());
    auto made = Connect(data_, *server);
    if (!made) return Fail(made.error());
    client_.emplace(std::move(*made));
  }
  return &*client_;
}

// What a server told the agent meanwhile counts for the next connection.
Result<std::string> Courier::Server() {
  auto known = LoadServers(data_);
  if (!known) return Fail(known.error());
  if (servers_)
    servers_->Told(std::move(known->told));
  else
    servers_.emplace(std::move(known->seed), std::move(known->given), std::move(known->told),
                     std::move(known->welcome));
  return servers_->Current();
}

void Courier::Pause(const std::string& why) {
  if (!away_) say_(fmt::format("trying again: {}", why));
  away_ = true;
  client_.reset();
  // Another server is tried at once, while there is one.
  if (servers_ && servers_->Lost(BootNow().ms, 0) == Duration::zero()) return;
  backoff_ = std::clamp(backoff_ * 2, kFirstPause, kLongestPause);
  // Spread, as all hosts of a run lose the same server at the same moment.
  static std::minstd_rand random(std::random_device{}());
  const auto spread = std::uniform_int_distribution<std::int64_t>(0, backoff_.count())(random);
  std::this_thread::sleep_for(backoff_ / 2 + Duration(spread));
}

void Courier::Passed(std::size_t bytes) {
  backoff_ = Duration{};
  away_ = false;
  servers_->Welcomed(0);
  const Duration wait = pace_.Take(bytes, BootNow());
  if (wait > Duration::zero()) std::this_thread::sleep_for(wait);
}

std::optional<Error> Courier::Judge(const Result<net::HttpResponse>& answer) {
  if (!answer) {
    const auto code = answer.error().code;
    if (code != ErrorCode::kUnavailable && code != ErrorCode::kTimeout) return answer.error();
    Pause(answer.error().message);
    return {};
  }
  const std::string message = MessageOf(*answer);
  switch (answer->status) {
    case 401:
    case 403:
      return Error{ErrorCode::kDenied, message};
    case 404:
      return Error{ErrorCode::kNotFound, message};
    case 400:
    case 405:
    case 411:
    case 413:
    case 416:
    case 422:
      return Error{ErrorCode::kInvalid, message};
    default:
      Pause(message);
      return {};
  }
}

Result<> Courier::Fetch(const std::string& sha256, std::uint64_t size, std::uint64_t offset,
                        const Sink& sink) {
  while (offset < size) {
    const auto client = Client();
    if (!client) return Fail(client.error());
    net::HttpRequest request = Request("GET", sha256);
    request.headers.emplace_back("Range", fmt::format("bytes={}-{}", offset, size - 1));
    Result<> taken;
    const auto answer = (*client)->Stream(request, kSilence, [&](std::string_view piece) {
      if (piece.size() > size - offset)
        taken = Fail(ErrorCode::kInvalid, "the server sent more than was asked for");
      else
        taken = sink(piece);
      if (!taken) return false;
      offset += piece.size();
      Passed(piece.size());
      return true;
    });
    if (!taken) return taken;
    if (answer && answer->status == 206) continue;
    if (auto failed = Judge(answer)) return Fail(*failed);
  }
  return {};
}

Result<net::HttpResponse> Courier::Ask(std::string method, const std::string& sha256) {
  const auto client = Client();
  if (!client) return Fail(client.error());
  return (*client)->Call(Request(std::move(method), sha256));
}

Result<net::HttpResponse> Courier::Put(const std::string& sha256, std::uint64_t size,
                                       std::uint64_t offset, const Source& source,
                                       std::optional<Error>& source_failed) {
  const auto client = Client();
  if (!client) return Fail(client.error());
  net::HttpRequest request = Request("PUT", sha256);
  request.headers.emplace_back("Content-Type", "application/octet-stream");
  request.headers.emplace_back(
      "Content-Range",
      size == 0 ? std::string("bytes */0") : fmt::format("bytes {}-{}/{}", offset, size - 1, size));
  return (*client)->Upload(request, size - offset, [&](char* into, std::size_t room) {
    auto got = source(offset, into, room);
    if (!got) {
      source_failed = got.error();
      return got;
    }
    offset += *got;
    Passed(*got);
    return got;
  });
}

Result<> Courier::Send(const std::string& sha256, std::uint64_t size, const Source& source) {
  for (;;) {
    const auto there = Ask("HEAD", sha256);
    if (there && there->status == 200) return {};
    if (!there || there->status != 404) {
      if (auto failed = Judge(there)) return Fail(*failed);
      continue;
    }
    const std::uint64_t offset = OffsetOf(*there);
    std::optional<Error> source_failed;
    // An upload that stands at the end lacks only its last check: it begins anew, as does one that
    // is of another length.
    const auto answer = Put(sha256, size, offset < size ? offset : 0, source, source_failed);
    if (source_failed) return Fail(*source_failed);
    if (answer && (answer->status == 200 || answer->status == 201)) return {};
    if (auto failed = Judge(answer)) return Fail(*failed);
  }
}

}  // namespace muster::agent
