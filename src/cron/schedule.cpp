#include "cron/schedule.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cron/field.hpp"
#include "cron/local_search.hpp"
#include "cron/month_days.hpp"

namespace muster::cron {
namespace {

struct Macro {
  std::string_view name;
  std::string_view expression;
};
constexpr std::array<Macro, 7> kMacros{{{"@yearly", "0 0 1 1 *"},
                                        {"@annually", "0 0 1 1 *"},
                                        {"@monthly", "0 0 1 * *"},
                                        {"@weekly", "0 0 * * 0"},
                                        {"@daily", "0 0 * * *"},
                                        {"@midnight", "0 0 * * *"},
                                        {"@hourly", "0 * * * *"}}};
constexpr std::string_view kBlanks = " \t";

std::unexpected<ParseProblem> Problem(std::size_t column, std::string message) {
  return std::unexpected(ParseProblem{column, std::move(message)});
}

std::vector<FieldText> SplitFields(std::string_view text) {
  std::vector<FieldText> fields;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    fields.push_back({text.substr(at, end - at), at + 1});
    at = text.find_first_not_of(kBlanks, end);
  }
  return fields;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) noexcept {
  return std::ranges::equal(a, lower, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

std::expected<Schedule, ParseProblem> Every(const std::vector<FieldText>& words,
                                            const ParseOptions& options) {
  if (words.size() != 2)
    return Problem(words.size() < 2 ? words[0].column + words[0].text.size() : words[2].column,
                   "expected one duration after @every, as in @every 90s");
  const auto interval = ParseDuration(words[1].text);
  if (!interval) return Problem(words[1].column, interval.error().message);
  if (interval->count() < 1000 || interval->count() % 1000 != 0)
    return Problem(words[1].column, "expected whole seconds, at least one, as in @every 90s");
  Schedule schedule;
  schedule.every = interval->count() / 1000;
  schedule.anchor = FloorDiv(options.anchor.ms, 1000);
  return schedule;
}

std::expected<Schedule, ParseProblem> ReadMacro(const std::vector<FieldText>& words,
                                                const ParseOptions& options) {
  const FieldText& name = words[0];
  if (EqualsIgnoringCase(name.text, "@every")) return Every(words, options);
  if (EqualsIgnoringCase(name.text, "@reboot"))
    return Problem(name.column,
                   "@reboot is no time: what must run when a host starts belongs into a unit of "
                   "its service manager");
  for (const auto& macro : kMacros) {
    if (!EqualsIgnoringCase(name.text, macro.name)) continue;
    if (words.size() > 1)
      return Problem(words[1].column, fmt::format("expected nothing after {}", macro.name));
    return Parse(macro.expression, options);
  }
  return Problem(name.column,
                 "expected @yearly, @monthly, @weekly, @daily, @hourly or @every DURATION");
}

std::unexpected<ParseProblem> WrongCount(std::string_view text,
                                         const std::vector<FieldText>& fields) {
  const std::size_t column = fields.size() > 7 ? fields[7].column : text.size() + 1;
  return Problem(column,
                 fmt::format("expected five fields (minute hour day month weekday), six "
                             "with seconds before them, or seven with years behind; found {}",
                             fields.size()));
}

// Where ? can be read in two ways, it is refused: in crontabs of some systems it is *, here it is a
// hash.
std::optional<ParseProblem> Doubtful(const std::vector<FieldText>& texts, const Field& day,
                                     const Field& weekday, bool six) {
  const auto& day_text = texts[texts.size() - 3];
  const auto& weekday_text = texts.back();
  if (six && day.any && weekday.any)
    return ParseProblem{weekday_text.column,
                        "? in both day fields leaves no day; write * in one of them"};
  if (six || (!day.any && !weekday.any) || day.open || weekday.open) return std::nullopt;
  return ParseProblem{day.any ? day_text.column : weekday_text.column,
                      "in five fields ? is a value picked by hash; beside another day field write "
                      "* for any day, or H for the hash"};
}

std::expected<Schedule, ParseProblem> ReadFields(std::vector<FieldText> texts,
                                                 const ParseOptions& options) {
  std::optional<FieldText> years;
  if (texts.size() == 7) {
    years = texts.back();
    texts.pop_back();
  }
  const bool six = texts.size() == 6;
  std::array<Field, 6> fields;
  Schedule schedule;
  schedule.gap = options.gap;
  schedule.fold = options.fold;
  schedule.has_seconds = six;
  if (years && years->text != "*" && years->text != "?") {
    const auto read = ReadYears(*years);
    if (!read) return std::unexpected(read.error());
    schedule.has_years = true;
    schedule.years = *read;
  }
  fields[0].values = 1;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t kind = i + (six ? 0 : 1);
    auto field = ReadField(SpecOf(static_cast<FieldKind>(kind)), texts[i], six, options,
                           schedule.day_fields);
    if (!field) return std::unexpected(field.error());
    fields[kind] = *field;
  }
  if (const auto problem = Doubtful(texts, fields[3], fields[5], six))
    return std::unexpected(*problem);

  schedule.seconds = fields[0].values;
  schedule.minutes = fields[1].values;
  schedule.hours = static_cast<std::uint32_t>(fields[2].values);
  schedule.follows_clock = fields[2].stepped || schedule.hours == (1U << 24) - 1;
  schedule.months = static_cast<std::uint16_t>(fields[4].values);
  auto& days = schedule.day_fields;
  days.days = static_cast<std::uint32_t>(fields[3].values);
  days.weekdays = static_cast<std::uint8_t>(fields[5].values);
  days.days_open = fields[3].open;
  days.weekdays_open = fields[5].open;
  days.both |= options.both_days;
  schedule.month_days = AllMonthKinds(days);
  schedule.never = !NextLocal(schedule, 0);
  return schedule;
}

}  // namespace

std::expected<Schedule, ParseProblem> Parse(std::string_view text, const ParseOptions& options) {
  if (text.size() > kMostText)
    return Problem(kMostText + 1,
                   fmt::format("expected at most {} characters; found {}", kMostText, text.size()));
  const auto fields = SplitFields(text);
  if (!fields.empty() && fields[0].text.starts_with('@')) return ReadMacro(fields, options);
  if (fields.size() < 5 || fields.size() > 7) return WrongCount(text, fields);
  return ReadFields(fields, options);
}

Error ToError(std::string_view text, const ParseProblem& problem) {
  return {ErrorCode::kInvalid,
          fmt::format("cron '{}', column {}: {}", text, problem.column, problem.message)};
}

std::uint64_t StableHash(std::string_view seed, std::string_view field) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(seed);
  add("/");
  add(field);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

}  // namespace muster::cron
