#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/peers/peer_frames.hpp"

// Whatever another server sends either is refused or survives being sent on, item by item.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::server;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto items = DecodeFollowerFrame(bytes)) {
    FollowerFrames frames;
    for (const auto& item : *items) frames.Add(item);
    std::size_t again = 0;
    for (const auto& frame : frames.Take()) again += DecodeFollowerFrame(frame)->size();
    MUSTER_CHECK(again == items->size());
  }
  if (const auto items = DecodeLeaderFrame(bytes)) {
    LeaderFrames frames;
    for (const auto& item : *items) frames.Add(item);
    std::size_t again = 0;
    for (const auto& frame : frames.Take()) again += DecodeLeaderFrame(frame)->size();
    MUSTER_CHECK(again == items->size());
  }
  return 0;
}
