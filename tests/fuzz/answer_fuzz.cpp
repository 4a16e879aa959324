#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "adapters/net/answer_reader.hpp"
#include "base/result.hpp"

namespace {

using namespace muster::net;

struct Outcome {
  AnswerReader::State state = AnswerReader::State::kHead;
  AnswerReader::Head head = {};
  std::string body = {};
  bool cut = false;
};

// One answer and the connection's end, as a forwarder reads them, `piece` bytes at a time.
Outcome ReadAll(bool head_only, std::size_t max_head, std::string_view bytes, std::size_t piece) {
  AnswerReader reader(head_only, max_head);
  beast::flat_buffer in;
  Outcome outcome;
  const auto over = [&outcome] {
    return outcome.state == AnswerReader::State::kDone ||
           outcome.state == AnswerReader::State::kRefused;
  };
  while (!bytes.empty() && !over()) {
    const auto next = bytes.substr(0, piece);
    bytes.remove_prefix(next.size());
    std::memcpy(in.prepare(next.size()).data(), next.data(), next.size());
    in.commit(next.size());
    outcome.state = reader.Feed(in);
    outcome.body += reader.TakeBody();
  }
  if (!over()) outcome.state = reader.Finish();
  outcome.body += reader.TakeBody();
  outcome.head = reader.head();
  outcome.cut = reader.cut();
  MUSTER_CHECK(over());
  if (outcome.state == AnswerReader::State::kRefused) {
    MUSTER_CHECK(!reader.reason().empty());
  } else {
    (void)reader.KeepAlive();
  }
  return outcome;
}

}  // namespace

// What is let through is an answer, and means the same however its bytes arrive. (Whether a head
// just at its limit is refused may depend on that.)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxHead = 400;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool head_only : {false, true}) {
    const Outcome whole = ReadAll(head_only, kMaxHead, bytes, bytes.size());
    const Outcome split = ReadAll(head_only, kMaxHead, bytes, 1 + size % 7);
    if (whole.state != AnswerReader::State::kDone) continue;
    MUSTER_CHECK(whole.head.status >= 200 && whole.head.status <= 599);
    MUSTER_CHECK(FindHeader(whole.head.headers, "Connection").empty());
    MUSTER_CHECK(FindHeader(whole.head.headers, "Transfer-Encoding").empty());
    MUSTER_CHECK(!head_only || whole.body.empty());
    if (whole.head.framing == Framing::kLength && !head_only) {
      MUSTER_CHECK(whole.body.size() == whole.head.length);
    }
    if (split.state != AnswerReader::State::kDone) continue;
    MUSTER_CHECK(split.head.status == whole.head.status);
    MUSTER_CHECK(split.head.headers == whole.head.headers);
    MUSTER_CHECK(split.body == whole.body);
  }
  return 0;
}
