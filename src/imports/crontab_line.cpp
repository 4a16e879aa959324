#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.hpp"
#include "cron/schedule.hpp"
#include "imports/crontab_parts.hpp"

namespace muster::imports {
namespace {

constexpr std::string_view kBlanks = " \t";

bool IsBlank(char c) { return kBlanks.contains(c); }

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}
std::size_t SkipWord(std::string_view text, std::size_t at) {
  while (at < text.size() && !IsBlank(text[at])) ++at;
  return at;
}

std::unexpected<CrontabFault> Fault(std::size_t byte, std::string sentence) {
  return std::unexpected(CrontabFault{byte, std::move(sentence)});
}

struct Field {
  std::string_view name;
  int low = 0;
  int high = 0;
  std::string_view words;  // three letters each, from `low` on
};
constexpr std::array<Field, 5> kFields{{{"minute", 0, 59, ""},
                                        {"hour", 0, 23, ""},
                                        {"day of the month", 1, 31, ""},
                                        {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                                        {"weekday", 0, 7, "sunmontuewedthufrisat"}}};

// What a run of letters or digits stands for; -1: nothing that cron knows.
int ValueOf(const Field& field, std::string_view word) {
  if (word.empty() || word.size() > 3) return -1;
  if (std::ranges::all_of(word, IsDigit)) {
    int number = 0;
    for (const char c : word) number = number * 10 + (c - '0');
    return number;
  }
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t at = 0; at < field.words.size(); at += 3)
    if (field.words.substr(at, 3) == lower) return field.low + static_cast<int>(at / 3);
  return -1;
}

// What Muster reads and Vixie's cron refuses, or reads as something else: names and ranges beyond
// its own, a step from one value, a step past the end. Plain mistakes are left to the library.
class FieldCheck {
 public:
  FieldCheck(const Field& field, std::string_view text, std::size_t start)
      : field_(field), text_(text), start_(start) {}

  std::optional<CrontabFault> Run() {
    while (at_ <= text_.size()) {
      if (auto fault = Item()) return fault;
      if (at_ < text_.size() && text_[at_] != ',')
        return Wrong(at_, fmt::format("cron does not know '{}' in the {}", text_.substr(at_, 1),
                                      field_.name));
      ++at_;
    }
    return std::nullopt;
  }

 private:
  CrontabFault Wrong(std::size_t at, std::string sentence) const {
    return {start_ + at, std::move(sentence)};
  }
  std::string_view Word() {
    const auto from = at_;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || IsLetter(text_[at_]))) ++at_;
    return text_.substr(from, at_ - from);
  }
  bool Take(char sign) {
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  std::optional<CrontabFault> Value(int& value) {
    const auto from = at_;
    const auto word = Word();
    value = ValueOf(field_, word);
    if (value >= field_.low && value <= field_.high) return std::nullopt;
    if (word.empty())
      return Wrong(from,
                   fmt::format("expected a {}, {} to {}", field_.name, field_.low, field_.high));
    return Wrong(from, fmt::format("'{}' is no {}: expected {} to {}", word, field_.name,
                                   field_.low, field_.high));
  }

  std::optional<CrontabFault> Item() {
    const auto from = at_;
    if (Take('*')) return Step(from, field_.low, field_.high);
    int low = 0;
    if (auto fault = Value(low)) return fault;
    if (!Take('-')) {
      if (at_ < text_.size() && text_[at_] == '/')
        return Wrong(at_, fmt::format("crons do not agree on a step from one value: write {} "
                                      "alone, or {}-{}/…",
                                      low, low, field_.high == 7 ? 6 : field_.high));
      return std::nullopt;
    }
    int high = 0;
    if (auto fault = Value(high)) return fault;
    if (high < low)
      return Wrong(from, fmt::format("cron does not read a range that runs backwards: write it as "
                                     "two"));
    return Step(from, low, high);
  }

  std::optional<CrontabFault> Step(std::size_t from, int low, int high) {
    if (!Take('/')) return std::nullopt;
    const auto digits_at = at_;
    const auto digits = Word();
    if (digits.empty() || digits.size() > 4 || !std::ranges::all_of(digits, IsDigit))
      return Wrong(digits_at, "expected a step: a number");
    int step = 0;
    for (const char c : digits) step = step * 10 + (c - '0');
    if (step == 0) return Wrong(digits_at, "a step of 0 leads nowhere");
    if (step > high - low && step > 1)
      return Wrong(from, fmt::format("'{}' is {} alone to cron, for its step is longer than its "
                                     "range: write {}, or an 'every' in the trigger",
                                     text_.substr(from, at_ - from), low, low));
    return std::nullopt;
  }

  const Field& field_;
  std::string_view text_;
  std::size_t start_;
  std::size_t at_ = 0;
};

std::expected<CrontabWhen, CrontabFault> ReadWord(std::string_view line, std::size_t at) {
  constexpr std::string_view kKnown[] = {"@hourly",  "@daily",  "@midnight", "@weekly",
                                         "@monthly", "@yearly", "@annually"};
  const auto end = SkipWord(line, at);
  const auto word = line.substr(at, end - at);
  if (word == "@reboot")
    return Fault(at,
                 "a trigger goes by the clock and not by the machine's start: make it a unit of "
                 "the host's systemd");
  if (std::ranges::find(kKnown, word) == std::end(kKnown))
    return Fault(at, fmt::format("cron does not know '{}': expected five fields, or one of {}",
                                 word, fmt::join(kKnown, " ")));
  return CrontabWhen{std::string(word), line.substr(SkipBlanks(line, end))};
}

}  // namespace

std::expected<CrontabWhen, CrontabFault> ReadWhen(std::string_view line) {
  auto at = SkipBlanks(line, 0);
  if (at < line.size() && line[at] == '@') return ReadWord(line, at);
  // Some crons take a - before the first field, which keeps a line out of their own log.
  if (at + 1 < line.size() && line[at] == '-' && (IsDigit(line[at + 1]) || line[at + 1] == '*'))
    ++at;
  CrontabWhen when;
  std::array<std::pair<std::size_t, std::size_t>, 5> starts;  // in the line, in the expression
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const auto end = SkipWord(line, at);
    if (end == at)
      return Fault(
          at, fmt::format("expected a {}; a line has five fields and a command", kFields[i].name));
    if (auto fault = FieldCheck(kFields[i], line.substr(at, end - at), at).Run())
      return std::unexpected(std::move(*fault));
    if (i > 0) when.cron += ' ';
    starts[i] = {at, when.cron.size()};
    when.cron += line.substr(at, end - at);
    at = SkipBlanks(line, end);
  }
  when.rest = line.substr(at);
  if (const auto schedule = cron::Parse(when.cron); !schedule) {
    const auto column = schedule.error().column - 1;
    std::size_t byte = starts[0].first;
    for (const auto& [in_line, in_cron] : starts)
      if (column >= in_cron) byte = in_line + (column - in_cron);
    return Fault(byte, schedule.error().message);
  }
  return when;
}

std::optional<CrontabSetting> ReadSetting(std::string_view line) {
  CrontabSetting setting;
  auto at = SkipBlanks(line, 0);
  const auto quote_at = [&] {
    const bool quote = at < line.size() && (line[at] == '\'' || line[at] == '"');
    return quote ? line[at++] : '\0';
  };
  if (const char quote = quote_at()) {
    const auto end = line.find(quote, at);
    if (end == std::string_view::npos) return std::nullopt;
    setting.name = line.substr(at, end - at);
    at = end + 1;
  } else {
    while (at < line.size() && line[at] != '=' && !IsBlank(line[at])) setting.name += line[at++];
  }
  at = SkipBlanks(line, at);
  if (setting.name.empty() || setting.name.contains('=') || at >= line.size() || line[at] != '=')
    return std::nullopt;
  at = SkipBlanks(line, at + 1);
  const char quote = quote_at();
  const auto end = quote != '\0' ? line.find(quote, at) : line.find_last_not_of(kBlanks) + 1;
  if (end == std::string_view::npos) return std::nullopt;
  if (quote != '\0' && SkipBlanks(line, end + 1) != line.size()) return std::nullopt;
  setting.value = line.substr(at, std::max(at, end) - at);
  return setting;
}

void CutCommand(std::string_view text, CrontabEntry& entry) {
  entry.command.clear();
  entry.input.reset();
  std::string* out = &entry.command;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '%') *out += c;
      *out += text[++i];
    } else if (c != '%') {
      *out += c;
    } else if (!entry.input) {
      out = &entry.input.emplace();
    } else {
      *out += '\n';
    }
  }
  if (entry.input && !entry.input->empty() && !entry.input->ends_with('\n')) *entry.input += '\n';
}

}  // namespace muster::imports
