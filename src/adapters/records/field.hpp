#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "adapters/records/wire.hpp"
#include "base/id.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/ordinals.hpp"
#include "domain/task.hpp"

// How a C++ value is described once, so that it can be written, read back and made up at random:
//
//   template <>
//   struct Description<Freeze> {
//     static constexpr std::string_view kName = "freeze";
//     static constexpr std::tuple kFields{
//         Field(1, &Freeze::id),
//         Field(2, &Freeze::scope, FreezeScope::kAll),   // an enumeration: its last value
//         Field(3, &Freeze::targets)};
//   };
//
// Numbers are never used again for something else. A field that a blob does not have keeps the
// value a new object has, so a field may be added at any time; a field that a blob has and the
// description does not is passed over. A value that is zero or empty is left out of the blob unless
// a new object has another one.
namespace muster::records {

template <typename T>
struct Description;

template <typename T>
concept Described = requires { Description<T>::kFields; };

// Marks values with an encoding of their own (wire_values.hpp).
template <typename T>
struct Encoding;

template <typename T>
concept Encoded = requires { Encoding<T>::kThere; };

// Nothing is known of the value but its type.
struct Plain {};

template <typename Member, typename Detail = Plain>
struct Field {
  constexpr Field(std::uint32_t of_number, Member of_member, Detail of_detail = {})
      : number(of_number), member(of_member), detail(of_detail) {}

  std::uint32_t number;
  Member member;  // a pointer to a member, or a function that gives a reference to the value
  Detail detail;  // of an enumeration its last value
};

namespace internal {

template <typename T>
struct IsId : std::false_type {};
template <typename Tag, typename Number>
struct IsId<Id<Tag, Number>> : std::true_type {};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

template <typename T>
concept IdNumber = IsId<T>::value;
// Kept as one number.
template <typename T>
concept Scalar = std::integral<T> || std::is_enum_v<T> || IdNumber<T> ||
                 std::same_as<T, WallTime> || std::same_as<T, Duration>;
// Kept as pairs of a key and a value.
template <typename T>
concept Pairs = requires(const T& pairs) {
  requires std::same_as<std::remove_cvref_t<decltype(pairs.begin()->first)>, std::string>;
  pairs.begin()->second;
};

template <Scalar T>
std::uint64_t NumberOf(const T& value) {
  if constexpr (IdNumber<T>)
    return value.value;
  else if constexpr (std::same_as<T, WallTime>)
    return static_cast<std::uint64_t>(value.ms);
  else if constexpr (std::same_as<T, Duration>)
    return static_cast<std::uint64_t>(value.count());
  else
    return static_cast<std::uint64_t>(value);
}

template <typename Number>
Result<Number> Narrow(std::uint64_t number) {
  if constexpr (std::same_as<Number, bool>) {
    return number != 0;
  } else if constexpr (std::is_signed_v<Number>) {
    return static_cast<Number>(number);
  } else {
    if (number > std::numeric_limits<Number>::max())
      return Fail(ErrorCode::kInternal, "record: {} is more than its field can have", number);
    return static_cast<Number>(number);
  }
}

template <Scalar T, typename Detail>
Result<> SetNumber(std::uint64_t number, const Detail& detail, T& value) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(std::same_as<Detail, T>, "name the enumeration's last value");
    if (number > static_cast<std::uint64_t>(detail))
      return Fail(ErrorCode::kInternal,
                  "record: unknown value {}; was it written by a newer musterd?", number);
    value = static_cast<T>(number);
  } else if constexpr (std::same_as<T, WallTime>) {
    value = {static_cast<std::int64_t>(number)};
  } else if constexpr (std::same_as<T, Duration>) {
    value = Duration(static_cast<std::int64_t>(number));
  } else if constexpr (IdNumber<T>) {
    auto narrow = Narrow<decltype(value.value)>(number);
    if (!narrow) return Fail(narrow.error());
    value = T(*narrow);
  } else {
    auto narrow = Narrow<T>(number);
    if (!narrow) return Fail(narrow.error());
    value = *narrow;
  }
  return {};
}

template <typename T>
bool IsNothing(const T& value) {
  if constexpr (Encoded<T>)
    return Encoding<T>::IsNothing(value);
  else if constexpr (Scalar<T>)
    return NumberOf(value) == 0;
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else if constexpr (requires { value.has_value(); })
    return !value.has_value();
  else
    return false;
}

}  // namespace internal

template <Described T>
void PutFields(WireWriter& out, const T& value);
template <Described T>
Result<> TakeFields(std::string_view bytes, T& value);

// Writes one field, also when it holds nothing.
template <typename T, typename Detail>
void PutValue(WireWriter& out, std::uint32_t field, const T& value, const Detail& detail) {
  using internal::Pairs;
  if constexpr (Encoded<T>) {
    Encoding<T>::Put(out, field, value);
  } else if constexpr (internal::Scalar<T>) {
    out.Number(field, internal::NumberOf(value));
  } else if constexpr (std::same_as<T, std::string>) {
    out.Bytes(field, value);
  } else if constexpr (internal::IsOptional<T>::value) {
    if (value) PutValue(out, field, *value, detail);
  } else if constexpr (Described<T>) {
    const std::size_t begun = out.Begin(field);
    PutFields(out, value);
    out.End(begun);
  } else if constexpr (Pairs<T>) {
    for (const auto& [key, content] : value) {
      const std::size_t begun = out.Begin(field);
      PutValue(out, 1, key, Plain());
      PutValue(out, 2, content, detail);
      out.End(begun);
    }
  } else if constexpr (internal::Scalar<typename T::value_type>) {
    const std::size_t begun = out.Begin(field);
    for (const auto& item : value) out.Packed(internal::NumberOf(item));
    out.End(begun);
  } else {
    for (const auto& item : value) PutValue(out, field, item, detail);
  }
}

// Reads the field at which `in` stands. Repeated ones add to what is there.
template <typename T, typename Detail>
Result<> TakeValue(const WireReader& in, const Detail& detail, T& value) {
  if constexpr (Encoded<T>) {
    return Encoding<T>::Take(in, value);
  } else if constexpr (internal::Scalar<T>) {
    const auto number = in.Number();
    if (!number) return Fail(number.error());
    return internal::SetNumber(*number, detail, value);
  } else if constexpr (internal::IsOptional<T>::value) {
    return TakeValue(in, detail, value ? *value : value.emplace());
  } else {
    const auto bytes = in.Bytes();
    if (!bytes) return Fail(bytes.error());
    if constexpr (std::same_as<T, std::string>) {
      value = *bytes;
      return {};
    } else if constexpr (Described<T>) {
      return TakeFields(*bytes, value);
    } else if constexpr (internal::Pairs<T>) {
      std::string key;
      std::remove_cvref_t<decltype(value.begin()->second)> content{};
      WireReader pair(*bytes);
      while (true) {
        const auto more = pair.Next();
        if (!more) return Fail(more.error());
        if (!*more) break;
        Result<> taken;
        if (pair.Field() == 1) taken = TakeValue(pair, Plain(), key);
        if (pair.Field() == 2) taken = TakeValue(pair, detail, content);
        if (!taken) return taken;
      }
      if constexpr (internal::IsVector<T>::value)
        value.emplace_back(std::move(key), std::move(content));
      else
        value.emplace(std::move(key), std::move(content));
      return {};
    } else if constexpr (internal::Scalar<typename T::value_type>) {
      for (std::string_view packed = *bytes; !packed.empty();) {
        const auto number = TakePacked(packed);
        if (!number) return Fail(number.error());
        typename T::value_type item{};
        if (auto set = internal::SetNumber(*number, detail, item); !set) return set;
        value.insert(value.end(), item);
      }
      return {};
    } else {
      typename T::value_type item{};
      if (auto taken = TakeValue(in, detail, item); !taken) return taken;
      value.insert(value.end(), std::move(item));
      return {};
    }
  }
}

// One field of an object, unless it holds nothing and a new object holds nothing there either.
template <typename T, typename Member, typename Detail>
void PutOne(WireWriter& out, const Field<Member, Detail>& field, const T& value, const T& fresh) {
  const auto& content = std::invoke(field.member, value);
  using Content = std::remove_cvref_t<decltype(content)>;
  if (internal::IsNothing(content) && internal::IsNothing(std::invoke(field.member, fresh))) return;
  if constexpr (Described<Content>) {
    const std::size_t before = out.Size();
    const std::size_t begun = out.Begin(field.number);
    PutFields(out, content);
    if (out.Size() == begun)
      out.CutTo(before);  // all of it is as in a new object
    else
      out.End(begun);
  } else {
    PutValue(out, field.number, content, field.detail);
  }
}

// False: the field at which `in` stands is another one.
template <typename T, typename Member, typename Detail>
bool TakeOne(const WireReader& in, const Field<Member, Detail>& field, T& value, Result<>& taken) {
  if (in.Field() != field.number) return false;
  taken = TakeValue(in, field.detail, std::invoke(field.member, value));
  return true;
}

template <Described T>
void PutFields(WireWriter& out, const T& value) {
  static const T fresh{};
  std::apply([&](const auto&... field) { (PutOne(out, field, value, fresh), ...); },
             Description<T>::kFields);
}

template <Described T>
Result<> TakeFields(std::string_view bytes, T& value) {
  WireReader in(bytes);
  while (true) {
    const auto more = in.Next();
    if (!more) return Fail(more.error());
    if (!*more) return {};
    Result<> taken;
    std::apply([&](const auto&... field) { (void)(TakeOne(in, field, value, taken) || ...); },
               Description<T>::kFields);
    if (!taken) return taken;
  }
}

}  // namespace muster::records
