#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

// What one task may use of its host at most, all its processes together; 0 is no limit.
struct Resources {
  std::uint64_t memory = 0;     // bytes, swap included
  std::uint32_t cpu = 0;        // thousandths of one processor
  std::uint32_t processes = 0;  // threads count as well

  bool Any() const noexcept { return memory != 0 || cpu != 0 || processes != 0; }
  friend bool operator==(const Resources&, const Resources&) = default;
};

enum class Resource : std::uint8_t { kMemory, kCpu, kProcesses };
constexpr std::array<Resource, 3> kResources{Resource::kMemory, Resource::kCpu,
                                             Resource::kProcesses};

std::string_view Name(Resource resource) noexcept;  // "memory"

// The feature of a node that can limit it, as in Hello: "resources.memory".
std::string Feature(Resource resource);

std::uint64_t LimitOf(const Resources& resources, Resource resource) noexcept;

// Those that have a limit, in the order of kResources.
std::vector<Resource> LimitedOf(const Resources& resources);

// kInvalid for a limit under which no program could start, or one no kernel takes.
Result<> CheckResources(const Resources& resources);

// A number of processors, "0.5" or "2", in thousandths; kInvalid says what to write.
Result<std::uint32_t> ParseCpu(std::string_view text);

// With the largest unit that keeps it whole: "512 MiB", "1536 KiB", "1000 bytes".
std::string FormatMemory(std::uint64_t bytes);

}  // namespace muster
