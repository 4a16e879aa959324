#pragma once

#include <cstddef>

namespace muster::link {

// How much a node may put into one frame. All are far above what an agent has to say. The codec
// counts them before it decodes a frame (codec/frame_shape.hpp), and an agent keeps to them.
inline constexpr std::size_t kMostHeldTasks = 50'000;
inline constexpr std::size_t kMostReports = 10'000;
inline constexpr std::size_t kMostFacts = 100;
inline constexpr std::size_t kMostFeatures = 100;
// Pieces of output. A task that writes single bytes leaves a piece for each.
inline constexpr std::size_t kMostChunks = 20'000;
// Of the reason why a task ended so; a longer one is cut (CutText), at both ends.
inline constexpr std::size_t kMostReasonBytes = 4'096;

}  // namespace muster::link
