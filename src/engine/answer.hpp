#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/result.hpp"
#include "engine/command.hpp"

// Answers on their way from the engine to the caller. The engine gives, and the caller gets, a
// Result<C::Answer> for a command C; between the two it is one of all answers.
namespace muster::engine {

namespace detail {

template <typename... C>
constexpr auto AnswersOf(std::type_identity<std::variant<C...>>) {
  return (Kinds<>{} | ... | typename AlternativesOf<typename C::Answer>::Type{});
}

}  // namespace detail

using AnyAnswer =
    typename VariantOfList<decltype(detail::AnswersOf(std::type_identity<AnyCommand>{}))>::Type;

template <typename C>
concept Answered = requires { typename C::Answer; } && !std::same_as<typename C::Answer, NoAnswer>;

// An answer to some command, for the way.
template <typename T>
AnyAnswer Pack(T answer) {
  return AnyAnswer(std::move(answer));
}
template <typename... T>
AnyAnswer Pack(std::variant<T...> answer) {
  return std::visit([](auto&& one) { return AnyAnswer(std::forward<decltype(one)>(one)); },
                    std::move(answer));
}

namespace detail {

template <typename T>
struct Unpacker {
  static T From(AnyAnswer answer) {
    MUSTER_CHECK(std::holds_alternative<T>(answer));
    return std::get<T>(std::move(answer));
  }
};
template <typename... T>
struct Unpacker<std::variant<T...>> {
  static std::variant<T...> From(AnyAnswer answer) {
    return std::visit(
        []<typename One>(One one) -> std::variant<T...> {
          if constexpr ((std::is_same_v<One, T> || ...))
            return one;
          else
            CheckFailed("an answer of this command", __FILE__, __LINE__);
        },
        std::move(answer));
  }
};

}  // namespace detail

// The answer to a C, at the end of its way.
template <Answered C>
Result<typename C::Answer> Unpack(Result<AnyAnswer> answer) {
  if (!answer) return Fail(std::move(answer).error());
  return detail::Unpacker<typename C::Answer>::From(std::move(*answer));
}

}  // namespace muster::engine
