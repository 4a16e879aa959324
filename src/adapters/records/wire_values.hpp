#pragma once

#include <memory>
#include <variant>

#include "adapters/records/field.hpp"
#include "domain/command.hpp"
#include "domain/ordinals.hpp"
#include "domain/task.hpp"

// Values that have an encoding of their own, and fields of several types.
namespace muster::records {

// As its ranges: hosts left out, hosts in, hosts left out, …
template <>
struct Encoding<Ordinals> {
  static constexpr bool kThere = true;
  static bool IsNothing(const Ordinals& set) { return set.Empty(); }
  static void Put(WireWriter& out, std::uint32_t field, const Ordinals& set);
  static Result<> Take(const WireReader& in, Ordinals& set);
};

// By TaskState.
template <>
struct Encoding<TaskCounts> {
  static constexpr bool kThere = true;
  static bool IsNothing(const TaskCounts& counts) { return counts == TaskCounts(); }
  static void Put(WireWriter& out, std::uint32_t field, const TaskCounts& counts);
  static Result<> Take(const WireReader& in, TaskCounts& counts);
};

// As it travels on links.
template <>
struct Encoding<TaskEnd> {
  static constexpr bool kThere = true;
  static bool IsNothing(const TaskEnd&) { return false; }
  static void Put(WireWriter& out, std::uint32_t field, const TaskEnd& end);
  static Result<> Take(const WireReader& in, TaskEnd& end);
};
template <>
struct Encoding<std::shared_ptr<const Command>> {
  static constexpr bool kThere = true;
  static bool IsNothing(const std::shared_ptr<const Command>& command) { return !command; }
  static void Put(WireWriter& out, std::uint32_t field,
                  const std::shared_ptr<const Command>& command);
  static Result<> Take(const WireReader& in, std::shared_ptr<const Command>& command);
};

// A SHA-256. That of nothing, which most tasks have for their stderr, takes one byte.
template <typename Member>
struct HashField {
  constexpr HashField(std::uint32_t of_number, Member of_member)
      : number(of_number), member(of_member) {}

  std::uint32_t number;
  Member member;
};

std::string_view ShortHash(const std::string& hash);
std::string WholeHash(std::string_view written);

template <typename T, typename Member>
void PutOne(WireWriter& out, const HashField<Member>& field, const T& value, const T&) {
  const std::string& hash = std::invoke(field.member, value);
  if (!hash.empty()) out.Bytes(field.number, ShortHash(hash));
}

template <typename T, typename Member>
bool TakeOne(const WireReader& in, const HashField<Member>& field, T& value, Result<>& taken) {
  if (in.Field() != field.number) return false;
  const auto written = in.Bytes();
  if (written)
    std::invoke(field.member, value) = WholeHash(*written);
  else
    taken = Fail(written.error());
  return true;
}

// One type that a variant may hold, and its field.
template <typename T>
struct Option {
  std::uint32_t number;
};

// A variant: one field for each type that it may hold.
template <typename Member, typename... Types>
struct Choice {
  constexpr explicit Choice(Member of_member, Option<Types>... of_options)
      : member(of_member), options(of_options...) {}

  Member member;
  std::tuple<Option<Types>...> options;
};

template <typename T, typename Member, typename... Types>
void PutOne(WireWriter& out, const Choice<Member, Types...>& choice, const T& value, const T&) {
  std::visit(
      [&]<typename Held>(const Held& held) {
        if (internal::IsNothing(held)) return;
        PutValue(out, std::get<Option<Held>>(choice.options).number, held, Plain());
      },
      std::invoke(choice.member, value));
}

template <typename T, typename Member, typename... Types>
bool TakeOne(const WireReader& in, const Choice<Member, Types...>& choice, T& value,
             Result<>& taken) {
  const auto take = [&]<typename Held>(const Option<Held>& option) {
    if (in.Field() != option.number) return false;
    Held held{};
    taken = TakeValue(in, Plain(), held);
    if (taken) std::invoke(choice.member, value) = std::move(held);
    return true;
  };
  return std::apply([&](const auto&... option) { return (take(option) || ...); }, choice.options);
}

}  // namespace muster::records
