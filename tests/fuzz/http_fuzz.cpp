#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/net/http_text.hpp"
#include "adapters/net/request_reader.hpp"

namespace {

using namespace muster::net;

struct Conversation {
  std::vector<HttpRequest> requests;
  int status = 0;  // of the refusal that ended it
};

// Requests one after the other, as a connection reads them, `piece` bytes at a time.
Conversation ReadAll(const ServerLimits& limits, std::string_view bytes, std::size_t piece) {
  Conversation conversation;
  beast::flat_buffer in;
  std::optional<RequestReader> reader;
  while (!bytes.empty() || in.size() > 0) {
    const auto next = bytes.substr(0, piece);
    bytes.remove_prefix(next.size());
    if (!next.empty()) std::memcpy(in.prepare(next.size()).data(), next.data(), next.size());
    in.commit(next.size());
    if (!reader) reader.emplace(limits);
    const auto state = reader->Feed(in);
    if (state == RequestReader::State::kRefused) {
      conversation.status = reader->status();
      return conversation;
    }
    if (state == RequestReader::State::kDone) {
      (void)reader->KeepAlive();
      conversation.requests.push_back(PlainRequest(reader->Release()));
      reader.reset();
      continue;
    }
    if (state == RequestReader::State::kBody) (void)reader->WantsContinue();
    if (bytes.empty()) break;
  }
  return conversation;
}

bool Same(const HttpRequest& a, const HttpRequest& b) {
  return a.method == b.method && a.target == b.target && a.headers == b.headers && a.body == b.body;
}

}  // namespace

// What is let through keeps within the limits, and means the same however its bytes arrive.
// (Whether a header just at its limit is refused may depend on that.)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ServerLimits limits{
      .max_url = 60, .max_header = 400, .max_header_fields = 8, .max_body = 200};
  const Conversation whole = ReadAll(limits, bytes, bytes.size());
  for (const auto& request : whole.requests) {
    MUSTER_CHECK(request.target.size() <= limits.max_url);
    MUSTER_CHECK(request.headers.size() <= limits.max_header_fields);
    MUSTER_CHECK(request.body.size() <= limits.max_body);
    // A header must not become two on its way out again.
    const std::string head = ResponseHead(200, request.headers, {});
    MUSTER_CHECK(static_cast<std::size_t>(std::ranges::count(head, '\n')) <=
                 request.headers.size() + 5);
  }
  const Conversation split = ReadAll(limits, bytes, 1 + size % 7);
  const std::size_t both = std::min(whole.requests.size(), split.requests.size());
  for (std::size_t i = 0; i < both; ++i) MUSTER_CHECK(Same(whole.requests[i], split.requests[i]));
  MUSTER_CHECK(whole.status != 0 || split.status != 0 ||
               split.requests.size() == whole.requests.size());
  return 0;
}
