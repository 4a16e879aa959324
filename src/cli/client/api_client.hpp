#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "adapters/net/client.hpp"
#include "base/result.hpp"
#include "cli/client/server_line.hpp"
#include "cli/client/sse.hpp"
#include "cli/context.hpp"

namespace muster::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// "/api/v1/runs/r12/log?host=web1": percent-encoded; empty values are left out.
std::string ApiTarget(std::string_view path, const Query& query = {});
// One path segment, percent-encoded.
std::string Segment(std::string_view text);

// The error an answer of another status than 2xx stands for. API codes without an ErrorCode of
// their own become the nearest: unauthenticated is kDenied, no_match kNotFound, too_large and
// key_reused kInvalid. With the URL of its `server`, an answer that is not of a Muster server is
// called that: kInvalid, or kDenied for 401 and 403. 500 and 502 to 504 may be of a proxy before
// it.
Error ErrorOfAnswer(int status, std::string_view body, std::string_view server = {});

// Output of one host from some offset on.
struct LogPart {
  struct Piece {
    std::uint64_t offset = 0;
    std::string stream;
    std::string time;
    std::string data;
  };
  std::vector<Piece> pieces;
  std::uint64_t next = 0;
  std::string state;    // "open", "complete", …
  std::string missing;  // why it is "expired": "retention", "restore" or "" when that is not known
  std::uint32_t attempt = 0;
};

// Muster's API over one connection. Not thread-safe.
class ApiClient {
 public:
  // kInvalid when the options are no good: URL, token file, CA file, an empty MUSTER_TOKEN, or a
  // token that would travel unencrypted. kNotFound when they name a context that is not there.
  static Result<ApiClient> Open(const Context& context);

  Result<boost::json::value> Get(std::string_view path, const Query& query = {});
  // With a `key` the call carries it as Idempotency-Key.
  Result<boost::json::value> Post(std::string_view path, const boost::json::value& body,
                                  std::string_view key = "", const Query& query = {});
  Result<boost::json::value> Put(std::string_view path, const boost::json::value& body);
  Result<boost::json::value> Delete(std::string_view path);
  // Raw bytes of GET /runs/ID/log.
  struct RawLog {
    std::string bytes;
    std::uint64_t next = 0;
    std::string state;
  };
  Result<RawLog> GetRawLog(std::string_view run, const Query& query);
  Result<LogPart> GetLog(std::string_view run, const Query& query);

  // How much of an artifact (by its SHA-256 in hex) the server has.
  struct ArtifactState {
    bool there = false;
    std::uint64_t uploaded = 0;  // of an upload that was cut
  };
  Result<ArtifactState> FindArtifact(std::string_view sha256);
  // Sends the bytes from `offset` to `size`. kConflict: the server stands elsewhere, or somebody
  // else sends it; ask FindArtifact.
  Result<> PutArtifact(std::string_view sha256, std::uint64_t size, std::uint64_t offset,
                       const net::HttpClient::Source& source);
  // Hands over the bytes from `offset` on, until `on_data` returns false.
  Result<> GetArtifact(std::string_view sha256, std::uint64_t offset,
                       const std::function<bool(std::string_view)>& on_data);

  // Calls `on_item` for each item of list `field`, page by page, until it returns false. Gives the
  // first page's answer, for the numbers beside the list. kInternal: the list has no end
  // (PageGuard).
  Result<boost::json::value> Pages(std::string_view path, Query query, std::string_view field,
                                   const std::function<bool(const boost::json::value&)>& on_item);

  // JSON objects, one on each line, as they come, until `on_object` returns false, the server ends
  // the answer, or it breaks (kTimeout, kUnavailable). Empty lines are left out. kInternal: a line
  // is not JSON, or too long.
  Result<> Objects(std::string_view path, const Query& query,
                   const std::function<bool(const boost::json::value&)>& on_object);

  // Server-sent events until `on_event` or `on_bytes` returns false, the server
  // ends the stream, or it breaks (kTimeout, kUnavailable). `on_bytes` is
  // called for whatever came, a keep-alive too. kInternal: an event is too
  // long.
  Result<> Events(const Query& query, const std::function<bool(SseEvent)>& on_event,
                  const std::function<bool()>& on_bytes = {});

  // Which server of the list answered last, how many there are, and which one
  // to ask next.
  std::size_t Server() const { return http_.At(); }
  std::size_t Servers() const { return http_.Size(); }
  void Prefer(std::size_t server) { http_.Prefer(server); }

 private:
  ApiClient(ServerLine http, std::string token, std::string token_file, bool verbose)
      : http_(std::move(http)),
        token_(std::move(token)),
        token_file_(std::move(token_file)),
        verbose_(verbose) {}
  net::HttpRequest Request(std::string_view method, std::string target) const;
  Result<net::HttpResponse> Call(const net::HttpRequest& request);
  Error ErrorOf(const net::HttpResponse& response) const;
  Result<boost::json::value> ParseBody(const net::HttpResponse& response) const;

  ServerLine http_;
  std::string token_;
  std::string token_file_;  // where it was read; "" when it came another way
  bool verbose_;            // tell each call on stderr
};

// A random Idempotency-Key.
std::string NewKey();

}  // namespace muster::cli
