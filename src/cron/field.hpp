#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "cron/schedule.hpp"

// One field of an expression. Only Parse needs this.
namespace muster::cron {

enum class FieldKind : std::uint8_t { kSecond, kMinute, kHour, kDay, kMonth, kWeekday };

struct FieldSpec {
  FieldKind kind;
  std::string_view name;  // as messages call it, and as StableHash takes it
  unsigned low;
  unsigned high;       // the largest that may be written: 7 for a weekday, which is Sunday too
  unsigned hash_high;  // up to where H chooses: 28 for a day, which every month has
  std::span<const std::string_view> words;  // three letters each; the first stands for `low`
};

const FieldSpec& SpecOf(FieldKind kind) noexcept;

// What a field says. For the two day fields the rest is in DayFields.
struct Field {
  std::uint64_t values = 0;  // bit n: n is in it
  bool open = false;         // begins with *, or is the ? of six fields
  bool stepped = false;      // *, */n or H/n: the whole range, evenly
  bool any = false;          // the field is ? alone
};

struct FieldText {
  std::string_view text;  // not empty, without blanks
  std::size_t column = 1;
};

// Reads one field; what only a day field can say goes to `days`. `six`: there are six fields, where
// ? in a day field is no value.
std::expected<Field, ParseProblem> ReadField(const FieldSpec& spec, FieldText text, bool six,
                                             const ParseOptions& options, DayFields& days);

// Reads the field of years, which knows numbers, ranges and steps only.
std::expected<Years, ParseProblem> ReadYears(FieldText text);

}  // namespace muster::cron
