#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace muster {

// A number that cannot be mistaken for another kind of number: `using HostId = Id<struct HostTag>;`
// Zero means "none".
template <typename Tag, typename Number = std::uint64_t>
struct Id {
  Number value = 0;

  constexpr Id() = default;
  constexpr explicit Id(Number number) : value(number) {}
  constexpr explicit operator bool() const noexcept { return value != 0; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace muster

template <typename Tag, typename Number>
struct std::hash<muster::Id<Tag, Number>> {
  std::size_t operator()(const muster::Id<Tag, Number>& id) const noexcept {
    // Ids are small and dense; spreading them keeps hash tables from clustering.
    return static_cast<std::size_t>(static_cast<std::uint64_t>(id.value) * 0x9E3779B97F4A7C15ULL);
  }
};
