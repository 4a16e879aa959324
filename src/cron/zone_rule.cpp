#include "cron/zone_rule.hpp"

#include <algorithm>

namespace muster::cron {
namespace {

constexpr int kLastYear = 2560;

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  std::optional<ZoneRule> All() {
    ZoneRule rule;
    const auto standard = NameAndOffset();
    if (!standard || !*standard) return std::nullopt;
    rule.offset = **standard;
    if (rest_.empty()) return rule;
    const auto summer = NameAndOffset();
    if (!summer) return std::nullopt;
    rule.changes = true;
    rule.summer_offset = summer->value_or(rule.offset + 3600);
    const auto from = CommaDay();
    const auto until = CommaDay();
    if (!from || !until || !rest_.empty()) return std::nullopt;
    rule.summer_from = *from;
    rule.summer_until = *until;
    return rule;
  }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<int> Number(int most) {
    int number = 0;
    std::size_t digits = 0;
    while (digits < rest_.size() && digits < 3 && rest_[digits] >= '0' && rest_[digits] <= '9')
      number = number * 10 + (rest_[digits++] - '0');
    if (digits == 0 || number > most) return std::nullopt;
    rest_.remove_prefix(digits);
    return number;
  }

  // [+-]hh[:mm[:ss]]
  std::optional<std::int32_t> Time(int most_hours) {
    const bool minus = Take('-');
    if (!minus) Take('+');
    const auto hours = Number(most_hours);
    if (!hours) return std::nullopt;
    std::int32_t time = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!Take(':')) break;
      const auto part = Number(59);
      if (!part) return std::nullopt;
      time += *part * unit;
    }
    return minus ? -time : time;
  }

  bool Name() {
    const bool quoted = Take('<');
    std::size_t length = 0;
    while (length < rest_.size() && (quoted ? rest_[length] != '>' : IsLetter(rest_[length])))
      ++length;
    if (length < 3) return false;
    rest_.remove_prefix(length);
    return !quoted || Take('>');
  }

  static bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  // The outer is nothing for bad text, the inner when no offset is written. West is positive here.
  std::optional<std::optional<std::int32_t>> NameAndOffset() {
    if (!Name()) return std::nullopt;
    if (rest_.empty() || rest_.starts_with(',')) return std::optional<std::int32_t>();
    const auto west = Time(24);
    if (!west) return std::nullopt;
    return std::optional(-*west);
  }

  std::optional<ZoneRule::Day> CommaDay() {
    if (!Take(',')) return std::nullopt;
    ZoneRule::Day day;
    if (!(Take('M') ? WeekdayForm(day) : YearDayForm(day))) return std::nullopt;
    if (!Take('/')) return day;
    const auto time = Time(167);
    if (!time) return std::nullopt;
    day.time = *time;
    return day;
  }

  bool WeekdayForm(ZoneRule::Day& day) {
    const auto month = Number(12);
    if (!month || *month < 1 || !Take('.')) return false;
    const auto week = Number(5);
    if (!week || *week < 1 || !Take('.')) return false;
    const auto weekday = Number(6);
    if (!weekday) return false;
    day.month = *month;
    day.week = *week;
    day.day = *weekday;
    return true;
  }

  bool YearDayForm(ZoneRule::Day& day) {
    const bool julian = Take('J');
    const auto number = Number(365);
    if (!number || (julian && *number < 1)) return false;
    day.kind = julian ? ZoneRule::Day::Kind::kJulian : ZoneRule::Day::Kind::kZeroBased;
    day.day = *number;
    return true;
  }

  std::string_view rest_;
};

std::int64_t DayIn(int year, const ZoneRule::Day& day) {
  const std::int64_t new_year = DaysOf({year, 1, 1});
  switch (day.kind) {
    case ZoneRule::Day::Kind::kZeroBased:
      return new_year + day.day;
    case ZoneRule::Day::Kind::kJulian:
      return new_year + day.day - 1 + (IsLeap(year) && day.day >= 60 ? 1 : 0);
    case ZoneRule::Day::Kind::kWeekday:
      break;
  }
  const auto month = static_cast<unsigned>(day.month);
  const std::int64_t first = DaysOf({year, month, 1});
  const int to_weekday = (day.day + 7 - static_cast<int>(WeekdayOf(first))) % 7;
  const int number = to_weekday + (day.week - 1) * 7;
  return first + (number < static_cast<int>(LengthOf(year, month)) ? number : number - 7);
}

}  // namespace

std::optional<ZoneRule> ParseZoneRule(std::string_view text) { return RuleReader(text).All(); }

void AddChanges(const ZoneRule& rule, std::int64_t after, std::vector<ZoneChange>& changes) {
  if (!rule.changes) {
    // The file's last change may leave the zone in an offset that its rule does not have.
    if (!changes.empty() && changes.back().offset != rule.offset)
      changes.push_back({after + 1, rule.offset});
    return;
  }
  std::vector<ZoneChange> found;
  const int first_year = DateOf(FloorDiv(std::max(after, kFirstSecond), kDay)).year;
  for (int year = std::max(first_year - 1, 1); year <= kLastYear; ++year) {
    const auto& from = rule.summer_from;
    const auto& until = rule.summer_until;
    found.push_back({DayIn(year, from) * kDay + from.time - rule.offset, rule.summer_offset});
    found.push_back({DayIn(year, until) * kDay + until.time - rule.summer_offset, rule.offset});
  }
  // Summer time all the year ends and begins at one moment; the beginning must win.
  std::ranges::sort(found, {}, [&rule](const ZoneChange& change) {
    return std::pair(change.at, change.offset == rule.summer_offset);
  });
  for (const auto& change : found)
    if (change.at > after) changes.push_back(change);
}

}  // namespace muster::cron
