#include "domain/resources.hpp"

#include <charconv>
#include <cmath>

namespace muster {
namespace {

constexpr std::uint64_t kLeastMemory = 1 << 20;
constexpr std::uint64_t kMostMemory = 1ULL << 50;
// The kernel gives a group at least 1 ms of each 100 ms.
constexpr std::uint32_t kLeastCpu = 10;
constexpr std::uint32_t kMostCpu = 10'000'000;
constexpr std::uint32_t kMostProcesses = 4'194'304;  // a kernel's largest pid

}  // namespace

std::string_view Name(Resource resource) noexcept {
  switch (resource) {
    case Resource::kMemory:
      return "memory";
    case Resource::kCpu:
      return "cpu";
    case Resource::kProcesses:
      return "processes";
  }
  return "";
}

std::string Feature(Resource resource) { return fmt::format("resources.{}", Name(resource)); }

std::uint64_t LimitOf(const Resources& resources, Resource resource) noexcept {
  switch (resource) {
    case Resource::kMemory:
      return resources.memory;
    case Resource::kCpu:
      return resources.cpu;
    case Resource::kProcesses:
      return resources.processes;
  }
  return 0;
}

std::vector<Resource> LimitedOf(const Resources& resources) {
  std::vector<Resource> limited;
  for (const Resource resource : kResources)
    if (LimitOf(resources, resource) != 0) limited.push_back(resource);
  return limited;
}

Result<> CheckResources(const Resources& resources) {
  if (resources.memory != 0 && (resources.memory < kLeastMemory || resources.memory > kMostMemory))
    return Fail(ErrorCode::kInvalid, "memory: a limit lies between 1 MiB and 1 PiB");
  if (resources.cpu != 0 && (resources.cpu < kLeastCpu || resources.cpu > kMostCpu))
    return Fail(ErrorCode::kInvalid, "cpu: a limit lies between 0.01 and 10000 processors");
  if (resources.processes > kMostProcesses)
    return Fail(ErrorCode::kInvalid, "processes: a limit is at most {}", kMostProcesses);
  return {};
}

Result<std::uint32_t> ParseCpu(std::string_view text) {
  double number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem != std::errc{} || end != text.data() + text.size() || !(number >= 0) ||
      number * 1000 > kMostCpu)
    return Fail(ErrorCode::kInvalid, "'{}' is not a number of processors; write for example 0.5, 2",
                text);
  // Rounded up: what is not 0 must not become "no limit".
  return static_cast<std::uint32_t>(std::ceil(number * 1000 - 1e-6));
}

std::string FormatMemory(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace muster
