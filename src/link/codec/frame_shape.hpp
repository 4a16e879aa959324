#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"

namespace muster::link {

// What is in an encoded NodeFrame, counted without decoding it: some nanoseconds for a field, and
// no memory. A small frame can be dear: a field takes two bytes, and becomes an object of its own.
struct FrameShape {
  bool hello = false;
  std::size_t facts = 0;
  std::size_t features = 0;
  std::size_t tasks = 0;
  std::size_t chunks = 0;
  std::size_t reports = 0;
  std::size_t fields = 0;  // at any depth, also unknown ones
};

// kInvalid: the bytes are no message, more of something than frame_bounds.hpp allows, more outputs
// of a task than domain/outputs.hpp allows, or a piece of output without a byte. It stops there.
Result<FrameShape> MeasureNodeFrame(std::string_view bytes);

}  // namespace muster::link
