#include "server/peers/shared_artifacts.hpp"

#include <charconv>
#include <cstring>

#include <spdlog/spdlog.h>

#include "base/text.hpp"

namespace muster::server {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);  // for a server that may be dead
constexpr Duration kFileSilence = std::chrono::seconds(20);

// Whose uploads those are that this server fetches from another: no caller's.
constexpr const char* kFetching = "fetch";

net::HttpRequest RequestFor(const char* method, const std::string& sha256) {
  net::HttpRequest request;
  request.method = method;
  request.target = "/api/v1/artifacts/" + ToHex(sha256);
  return request;
}

std::optional<std::uint64_t> LengthOf(const net::HttpResponse& response) {
  const auto text = net::FindHeader(response.headers, "Content-Length");
  std::uint64_t length = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || read.ec != std::errc()) return std::nullopt;
  return length;
}

}  // namespace

// Is whole for the caller once another server has it too.
class SharedArtifacts::Upload final : public ArtifactUpload {
 public:
  Upload(SharedArtifacts& shared, std::string sha256, std::unique_ptr<ArtifactUpload> own)
      : shared_(shared), sha256_(std::move(sha256)), own_(std::move(own)) {}

  std::uint64_t Offset() const override { return own_->Offset(); }
  Result<> Append(std::string_view data) override { return own_->Append(data); }
  Result<> Finish() override {
    const auto before = shared_.own_.Find(sha256_);
    if (auto finished = own_->Finish(); !finished) return finished;
    if (!before || !*before) shared_.Give(sha256_);
    return {};
  }

 private:
  SharedArtifacts& shared_;
  const std::string sha256_;
  const std::unique_ptr<ArtifactUpload> own_;
};

Result<std::optional<Artifact>> SharedArtifacts::Find(const std::string& sha256) {
  auto found = own_.Find(sha256);
  if (!found || *found) return found;
  const auto fetched = Fetch(sha256);
  if (!fetched) return Fail(fetched.error());
  return *fetched ? own_.Find(sha256) : found;
}

Result<std::unique_ptr<ArtifactReader>> SharedArtifacts::Open(const std::string& sha256) {
  auto reader = own_.Open(sha256);
  if (reader || reader.error().code != ErrorCode::kNotFound) return reader;
  const auto fetched = Fetch(sha256);
  if (!fetched) return Fail(fetched.error());
  return *fetched ? own_.Open(sha256) : std::move(reader);
}

Result<std::unique_ptr<ArtifactUpload>> SharedArtifacts::Begin(const std::string& sha256,
                                                               const std::string& uploader,
                                                               std::uint64_t size,
                                                               std::uint64_t offset) {
  auto upload = own_.Begin(sha256, uploader, size, offset);
  if (!upload) return Fail(upload.error());
  return std::make_unique<Upload>(*this, sha256, std::move(*upload));
}

Result<net::HttpClient> SharedArtifacts::Call(const Member& server) const {
  auto endpoint = net::ParseEndpoint(server.url);
  if (!endpoint) return Fail(endpoint.error());
  return net::HttpClient(std::move(*endpoint), others_.identity(server.name), kPatience);
}

Result<bool> SharedArtifacts::Fetch(const std::string& sha256) {
  for (const auto& server : others_.servers()) {
    const auto fetched = FetchFrom(server, sha256);
    if (fetched) {
      spdlog::info("file fetched sha256={} from={}", ToHex(sha256), server.name);
      return true;
    }
    if (fetched.error().code == ErrorCode::kConflict)
      return Fail(ErrorCode::kUnavailable, "file {} is being fetched from server {}; try again",
                  ToHex(sha256), server.name);
    if (fetched.error().code != ErrorCode::kNotFound)
      spdlog::warn("file sha256={} from={}: {}", ToHex(sha256), server.name,
                   fetched.error().message);
  }
  return false;
}

Result<> SharedArtifacts::FetchFrom(const Member& server, const std::string& sha256) {
  auto client = Call(server);
  if (!client) return Fail(client.error());
  const auto head = client->Call(RequestFor("HEAD", sha256));
  if (!head) return Fail(head.error());
  const auto size = LengthOf(*head);
  if (head->status != 200 || !size)
    return Fail(head->status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                "it answered {}", head->status);
  auto upload = own_.Begin(sha256, kFetching, *size, 0);
  if (!upload) return Fail(upload.error());
  Result<> kept;
  const auto got =
      client->Stream(RequestFor("GET", sha256), kFileSilence, [&](std::string_view data) {
        kept = (*upload)->Append(data);
        return kept.has_value();
      });
  if (!kept) return kept;
  if (!got) return Fail(got.error());
  if (got->status != 200) return Fail(ErrorCode::kUnavailable, "it answered {}", got->status);
  return (*upload)->Finish();
}

void SharedArtifacts::Give(const std::string& sha256) {
  const auto servers = others_.servers();
  for (const auto& server : servers) {
    const auto given = GiveTo(server, sha256);
    if (given) return;
    spdlog::warn("file sha256={} to={}: {}", ToHex(sha256), server.name, given.error().message);
  }
  if (!servers.empty())
    spdlog::warn("file sha256={} is kept by this server alone: no other takes it", ToHex(sha256));
}

Result<> SharedArtifacts::GiveTo(const Member& server, const std::string& sha256) {
  auto client = Call(server);
  if (!client) return Fail(client.error());
  auto reader = own_.Open(sha256);
  if (!reader) return Fail(reader.error());
  std::uint64_t at = 0;
  const auto source = [&](char* into, std::size_t room) -> Result<std::size_t> {
    const auto piece = (*reader)->Read(at, room);
    if (!piece) return Fail(piece.error());
    std::memcpy(into, piece->data(), piece->size());
    at += piece->size();
    return piece->size();
  };
  auto request = RequestFor("PUT", sha256);
  request.headers.emplace_back("Content-Type", "application/octet-stream");
  const auto response = client->Upload(request, (*reader)->Size(), source);
  if (!response) return Fail(response.error());
  if (response->status == 200 || response->status == 201) return {};
  return Fail(ErrorCode::kUnavailable, "it answered {}", response->status);
}

}  // namespace muster::server
