#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/run.hpp"

// How the stages of a plan stand to each other. Pure.
namespace muster::engine {

// Whether stages of the main list wait for what they need, and not for the one before them.
bool IsGraph(const RunSpec& spec);
// The stages of the main list that one of them waits for.
std::vector<std::uint32_t> NeedsOf(const RunSpec& spec, std::uint32_t stage);

// Whether what needs it, and what follows it, may go on.
bool WentWell(StageState state);

// The stages of the top level in this section, in order, and where one of them stands there.
std::vector<std::uint32_t> ListOf(const RunSpec& spec, Section section);
std::size_t PlaceIn(const std::vector<std::uint32_t>& list, std::uint32_t stage);

// The stages that `stage` holds, in order.
std::vector<std::uint32_t> InnerOf(const RunSpec& spec, std::uint32_t stage);
std::optional<std::uint32_t> CheckOf(const RunSpec& spec, std::uint32_t stage);

}  // namespace muster::engine
