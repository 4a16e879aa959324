#include "cron/field.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace muster::cron {
namespace {

using Words = std::string_view;
constexpr std::array<Words, 12> kMonthWords{"jan", "feb", "mar", "apr", "may", "jun",
                                            "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<Words, 7> kWeekdayWords{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<FieldSpec, 6> kSpecs{{
    {FieldKind::kSecond, "second", 0, 59, 59, {}},
    {FieldKind::kMinute, "minute", 0, 59, 59, {}},
    {FieldKind::kHour, "hour", 0, 23, 23, {}},
    {FieldKind::kDay, "day", 1, 31, 28, {}},
    {FieldKind::kMonth, "month", 1, 12, 12, kMonthWords},
    {FieldKind::kWeekday, "weekday", 0, 7, 6, kWeekdayWords},
}};

constexpr char Lower(char c) noexcept {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

struct Range {
  unsigned low = 0;
  unsigned high = 0;  // below `low` when it goes past the end and on from the start
};

// The largest value there is, when Sunday is 0 alone.
unsigned Top(const FieldSpec& spec) noexcept {
  return spec.kind == FieldKind::kWeekday ? 6 : spec.high;
}

using Status = std::expected<void, ParseProblem>;
template <typename T>
using Read = std::expected<T, ParseProblem>;

class FieldReader {
 public:
  FieldReader(const FieldSpec& spec, FieldText text, bool six, const ParseOptions& options,
              DayFields& days)
      : spec_(spec), text_(text), six_(six), options_(options), days_(days) {}

  Read<Field> All() {
    if (text_.text == "?") return Any();
    if (spec_.kind == FieldKind::kWeekday && Take('+')) days_.both = true;
    field_.open = Peek() == '*';
    while (true) {
      if (const auto item = Item(); !item) return std::unexpected(item.error());
      if (AtEnd()) return field_;
      if (Peek() != ',') return std::unexpected(Unexpected());
      ++at_;
    }
  }

 private:
  bool AtEnd() const noexcept { return at_ == text_.text.size(); }
  char Peek() const noexcept { return AtEnd() ? '\0' : Lower(text_.text[at_]); }
  bool Take(char c) noexcept {
    if (Peek() != c || AtEnd()) return false;
    ++at_;
    return true;
  }

  std::unexpected<ParseProblem> Problem(std::size_t at, std::string message) const {
    return std::unexpected(ParseProblem{text_.column + at, std::move(message)});
  }

  std::string Found() const {
    return AtEnd() ? std::string("nothing") : fmt::format("'{}'", text_.text.substr(at_, 1));
  }

  ParseProblem Unexpected() const {
    return {text_.column + at_, fmt::format("expected a comma or the end of the {} field; found {}",
                                            spec_.name, Found())};
  }

  std::string Expected() const {
    std::string text =
        fmt::format("expected a {} from {} to {}", spec_.name, spec_.low, spec_.high);
    if (!spec_.words.empty())
      text += fmt::format(" or {} to {}", spec_.words.front(), spec_.words.back());
    text += spec_.kind == FieldKind::kDay ? ", *, L or H" : ", * or H";
    return fmt::format("{}; found {}", text, Found());
  }

  Read<Field> Any() {
    const bool day_field = spec_.kind == FieldKind::kDay || spec_.kind == FieldKind::kWeekday;
    if (six_ && !day_field)
      return Problem(0, fmt::format("in six fields ? is for the day fields; write H for a {} "
                                    "picked by hash, * for any",
                                    spec_.name));
    field_.any = true;
    if (!six_) {
      const auto hashed = Hashed();
      if (!hashed) return std::unexpected(hashed.error());
      return field_;
    }
    field_.open = true;
    Add({spec_.low, Top(spec_)}, 1);
    return field_;
  }

  Status Item() {
    switch (Peek()) {
      case '*':
        return Star();
      case 'h':
        return Hashed();
      case '?':
        return Problem(at_, "? stands alone in its field; within a list write H");
      case 'l':
        if (spec_.kind == FieldKind::kDay) return FromLast();
        if (spec_.kind == FieldKind::kWeekday)
          return Problem(at_, "L follows a weekday: friL or 5L is the month's last Friday");
        break;
      default:
        break;
    }
    return Values();
  }

  Status Star() {
    ++at_;
    field_.stepped |= at_ == 1;
    const auto step = Step(SizeOf({spec_.low, Top(spec_)}));
    if (!step) return std::unexpected(step.error());
    Add({spec_.low, Top(spec_)}, step->value_or(1));
    return {};
  }

  // H, H/n, H(a-b), H(a-b)/n, and the ? of five fields.
  Status Hashed() {
    const std::size_t start = at_++;
    if (options_.seed.empty())
      return Problem(start, fmt::format("{} picks a {} by the hash of a name, and there is none "
                                        "here; give one (--seed)",
                                        text_.text.substr(start, 1), spec_.name));
    Range range{spec_.low, spec_.hash_high};
    const bool bounded = Take('(');
    if (bounded) {
      const auto inner = Bounds();
      if (!inner) return std::unexpected(inner.error());
      range = *inner;
    }
    const auto step = Step(SizeOf(bounded ? range : Range{spec_.low, Top(spec_)}));
    if (!step) return std::unexpected(step.error());
    const std::uint64_t hash = StableHash(options_.seed, spec_.name);
    const unsigned size = range.high - range.low + 1;
    if (!*step) {
      const auto value = range.low + static_cast<unsigned>(hash % size);
      Add({value, value}, 1);
      return {};
    }
    field_.stepped |= start == 0 && !bounded;
    if (!bounded) range.high = Top(spec_);
    const auto first = range.low + static_cast<unsigned>(hash % std::min(**step, size));
    Add({first, range.high}, **step);
    return {};
  }

  // What is inside the brackets of H(a-b), and the closing one.
  Read<Range> Bounds() {
    const std::size_t start = at_;
    const auto low = Value();
    if (!low) return std::unexpected(low.error());
    if (!Take('-'))
      return Problem(at_, fmt::format("expected - between two {}s, as in H({}-{}); "
                                      "found {}",
                                      spec_.name, spec_.low, spec_.hash_high, Found()));
    const auto high = Value();
    if (!high) return std::unexpected(high.error());
    if (*high < *low) return Problem(start, "the range of H must not run backwards");
    if (!Take(')'))
      return Problem(at_, fmt::format("expected ) after the range; found {}", Found()));
    return Range{*low, *high};
  }

  // L, L-n, LW, L-nW.
  Status FromLast() {
    ++at_;
    unsigned back = 0;
    if (Take('-')) {
      const std::size_t start = at_;
      const auto number = Number();
      if (!number || *number > 30)
        return Problem(start, "expected how many days before the last, 0 to 30, as in L-3");
      back = *number;
    }
    (Take('w') ? days_.from_last_near : days_.from_last) |= 1U << back;
    return {};
  }

  // n, n-m, n/step, n-m/step, and what a day can have behind it.
  Status Values() {
    const std::size_t start = at_;
    const auto low = Value();
    if (!low) return std::unexpected(low.error());
    if (spec_.kind == FieldKind::kDay && Take('w')) {
      days_.nearest |= 1U << *low;
      return {};
    }
    if (spec_.kind == FieldKind::kWeekday && Take('l')) {
      days_.last = static_cast<std::uint8_t>(days_.last | 1U << *low % 7);
      return {};
    }
    if (spec_.kind == FieldKind::kWeekday && Take('#')) return Nth(*low % 7);
    Range range{*low, *low};
    const bool ranged = Take('-');
    if (ranged) {
      // Up to the last day: those that a month does not have are never due.
      const bool to_last = spec_.kind == FieldKind::kDay && Take('l');
      const auto high = to_last ? Read<unsigned>(spec_.high) : Value();
      if (!high) return std::unexpected(high.error());
      range.high = *high;
      if (spec_.kind == FieldKind::kWeekday && Take('#')) return NthOfEach(range);
    }
    const auto step = Step(ranged ? SizeOf(range) : SizeOf({spec_.low, Top(spec_)}));
    if (!step) return std::unexpected(step.error());
    if (*step && !ranged) {
      range.high = Top(spec_);
      if (range.low > range.high)
        return Problem(start, "7 is Sunday at the end of the week; write 0 to count from it");
    }
    Add(range, step->value_or(1));
    return {};
  }

  // mon-fri#1: the first Monday, the first Tuesday, …
  Status NthOfEach(Range range) {
    const std::size_t number = at_;
    for (unsigned i = 0; i < SizeOf(range); ++i) {
      at_ = number;
      if (const auto read = Nth((range.low + i) % 7); !read) return read;
    }
    return {};
  }

  Status Nth(unsigned weekday) {
    const std::size_t start = at_;
    if (Take('l')) {
      days_.last = static_cast<std::uint8_t>(days_.last | 1U << weekday);
      return {};
    }
    const auto number = Number();
    if (!number || *number < 1 || *number > 5)
      return Problem(start, "expected which one of the month, 1 to 5 or L, as in mon#2");
    days_.nth[weekday] = static_cast<std::uint8_t>(days_.nth[weekday] | 1U << *number);
    return {};
  }

  // How many values it has; one that runs backwards goes on from the start.
  unsigned SizeOf(Range range) const noexcept {
    const unsigned all = Top(spec_) - spec_.low + 1;
    return range.high >= range.low ? std::min(range.high - range.low + 1, all)
                                   : range.high + all - range.low + 1;
  }

  Read<std::optional<unsigned>> Step(unsigned most) {
    if (!Take('/')) return std::optional<unsigned>();
    const std::size_t start = at_;
    const auto number = Number();
    if (!number)
      return Problem(start, fmt::format("expected a step from 1 to {} after /; found {}", most,
                                        FoundAt(start)));
    if (*number < 1 || *number > most)
      return Problem(start, fmt::format("expected a step from 1 to {}: a step starts anew in each "
                                        "range of {}s; for an even interval write @every",
                                        most, spec_.name));
    return number;
  }

  std::string FoundAt(std::size_t at) const {
    return at >= text_.text.size() ? std::string("nothing")
                                   : fmt::format("'{}'", text_.text.substr(at, 1));
  }

  // Digits, at most four; nothing (and nothing taken) otherwise.
  std::optional<unsigned> Number() noexcept {
    std::size_t end = at_;
    unsigned number = 0;
    while (end < text_.text.size() && end < at_ + 4 && text_.text[end] >= '0' &&
           text_.text[end] <= '9')
      number = number * 10 + static_cast<unsigned>(text_.text[end++] - '0');
    if (end == at_) return std::nullopt;
    at_ = end;
    return number;
  }

  Read<unsigned> Value() {
    const std::size_t start = at_;
    if (const auto number = Number()) {
      if (*number >= spec_.low && *number <= spec_.high) return *number;
      return Problem(start, fmt::format("{} is no {}: expected {} to {}", *number, spec_.name,
                                        spec_.low, spec_.high));
    }
    for (unsigned index = 0; index < spec_.words.size(); ++index) {
      if (!StartsWith(spec_.words[index])) continue;
      at_ += spec_.words[index].size();
      return spec_.low + index;
    }
    return Problem(start, Expected());
  }

  bool StartsWith(std::string_view word) const noexcept {
    if (text_.text.size() - at_ < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i)
      if (Lower(text_.text[at_ + i]) != word[i]) return false;
    return true;
  }

  // Every `step`-th value of the range; one that runs backwards goes on from the start.
  void Add(Range range, unsigned step) noexcept {
    const unsigned top = Top(spec_);
    const unsigned size = top - spec_.low + 1;
    const bool weekday = spec_.kind == FieldKind::kWeekday;
    if (weekday && range.low == 7) range = {0, range.high == 7 ? 0 : range.high};
    const unsigned last = range.high >= range.low ? range.high : range.high + size;
    for (unsigned value = range.low; value <= last; value += step)
      field_.values |= std::uint64_t{1} << ((value - spec_.low) % size + spec_.low);
  }

  const FieldSpec& spec_;
  FieldText text_;
  bool six_;
  const ParseOptions& options_;
  DayFields& days_;
  Field field_;
  std::size_t at_ = 0;
};

}  // namespace

const FieldSpec& SpecOf(FieldKind kind) noexcept { return kSpecs[static_cast<std::size_t>(kind)]; }

std::expected<Field, ParseProblem> ReadField(const FieldSpec& spec, FieldText text, bool six,
                                             const ParseOptions& options, DayFields& days) {
  return FieldReader(spec, text, six, options, days).All();
}

std::expected<Years, ParseProblem> ReadYears(FieldText text) {
  Years years;
  std::size_t at = 0;
  const auto problem = [&](std::string_view expected) {
    const std::string found = at < text.text.size() ? fmt::format("'{}'", text.text.substr(at, 1))
                                                    : std::string("nothing");
    return std::unexpected(
        ParseProblem{text.column + at, fmt::format("expected {}; found {}", expected, found)});
  };
  const auto take = [&](char c) {
    const bool there = at < text.text.size() && text.text[at] == c;
    if (there) ++at;
    return there;
  };
  const auto number = [&](unsigned low, unsigned high) -> std::optional<unsigned> {
    unsigned value = 0;
    const char* const end = text.text.data() + text.text.size();
    const auto [rest, code] = std::from_chars(text.text.data() + at, end, value);
    if (code != std::errc() || value < low || value > high) return std::nullopt;
    at = static_cast<std::size_t>(rest - text.text.data());
    return value;
  };
  const std::string a_year = fmt::format("a year from {} to {}", Years::kFirst, Years::kLast);
  do {
    Range range{Years::kFirst, Years::kLast};
    if (!take('*')) {
      const auto low = number(Years::kFirst, Years::kLast);
      if (!low) return problem(a_year);
      range = {*low, *low};
      if (take('-')) {
        const auto high = number(*low, Years::kLast);
        if (!high) return problem(fmt::format("a year from {} to {}", *low, Years::kLast));
        range.high = *high;
      } else if (at < text.text.size() && text.text[at] == '/') {
        range.high = Years::kLast;
      }
    }
    unsigned step = 1;
    if (take('/')) {
      const auto given = number(1, range.high - range.low + 1);
      if (!given) return problem(fmt::format("a step from 1 to {}", range.high - range.low + 1));
      step = *given;
    }
    for (unsigned year = range.low; year <= range.high; year += step) years.Add(year);
  } while (take(','));
  if (at < text.text.size()) return problem("a comma or the end of the year field");
  return years;
}

}  // namespace muster::cron
