#pragma once

#include <type_traits>
#include <variant>

// Lists of types: each room of the engine lists its own, and the engine's variants hold those of
// all rooms.
namespace muster::engine {

template <typename... T>
struct Kinds {};

// A + B: the kinds of both.
template <typename... A, typename... B>
constexpr Kinds<A..., B...> operator+(Kinds<A...>, Kinds<B...>) {
  return {};
}

// A | B: the kinds of A, and those of B that A does not have.
template <typename... A>
constexpr Kinds<A...> operator|(Kinds<A...>, Kinds<>) {
  return {};
}
template <typename... A, typename First, typename... More>
constexpr auto operator|(Kinds<A...> all, Kinds<First, More...>) {
  if constexpr ((std::is_same_v<A, First> || ...))
    return all | Kinds<More...>{};
  else
    return Kinds<A..., First>{} | Kinds<More...>{};
}

// The alternatives of a variant; any other type is the only one.
template <typename T>
struct AlternativesOf {
  using Type = Kinds<T>;
};
template <typename... T>
struct AlternativesOf<std::variant<T...>> {
  using Type = Kinds<T...>;
};

template <typename List>
struct VariantOfList;
template <typename... T>
struct VariantOfList<Kinds<T...>> {
  using Type = std::variant<T...>;
};
// A variant of all that these lists have: OneOf<RunCommands, HostCommands>.
template <typename... Lists>
using OneOf = typename VariantOfList<decltype((Lists{} + ...))>::Type;

}  // namespace muster::engine
