#include <cstddef>
#include <cstdint>
#include <string_view>

#include "link/codec/codec.hpp"
#include "link/codec/frame_shape.hpp"
#include "server/gateway/frame_check.hpp"

// Whatever a peer sends either is refused or survives being sent on: encoding it again and decoding
// that gives the same frame. What is counted without decoding is what is decoded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto shape = link::MeasureNodeFrame(bytes);
  if (auto frame = link::DecodeNodeFrame(bytes)) {
    if (shape) {
      MUSTER_CHECK(shape->hello == frame->hello.has_value());
      MUSTER_CHECK(!frame->hello || shape->tasks == frame->hello->tasks.size());
      MUSTER_CHECK(shape->chunks == frame->chunks.size());
      MUSTER_CHECK(shape->reports == frame->reports.size());
    }
    const auto again = link::DecodeNodeFrame(link::Encode(*frame));
    MUSTER_CHECK(again && *again == *frame);
    // Softened, it is still text.
    if (server::CheckFrame(*frame)) MUSTER_CHECK(link::DecodeNodeFrame(link::Encode(*frame)));
  }
  if (const auto frame = link::DecodeServerFrame(bytes)) {
    link::ServerFrameEncoder encoder;
    MUSTER_CHECK(link::DecodeServerFrame(encoder.Encode(*frame)));
  }
  if (const auto order = link::DecodeOrder(bytes)) {
    const auto again = link::DecodeOrder(link::EncodeOrder(*order));
    MUSTER_CHECK(again && *again->command == *order->command);
  }
  return 0;
}
