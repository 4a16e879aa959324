#include "documents/values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "documents/problems.hpp"
#include "documents/shape.hpp"
#include "domain/batches.hpp"
#include "domain/condition.hpp"
#include "domain/param.hpp"
#include "domain/targets.hpp"
#include "domain/template.hpp"

namespace muster::documents {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kDigits = "0123456789";

bool In(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// One of `first`, then any of `first`, digits and `more`.
bool IsWord(std::string_view text, std::string_view first, std::string_view more,
            std::size_t most = 100) {
  return !text.empty() && text.size() <= most && In(text.front(), first) &&
         std::ranges::all_of(text,
                             [&](char c) { return In(c, first) || In(c, kDigits) || In(c, more); });
}

bool IsName(std::string_view text) {
  return !text.empty() && (In(text.front(), kLetters) || In(text.front(), kDigits)) &&
         IsWord("a" + std::string(text), kLetters, "._-", 101);
}

Result<> Unless(bool holds, std::string_view text, std::string_view expected) {
  if (holds) return {};
  return Fail(ErrorCode::kInvalid, "'{}' is not {}", Shortened(text), expected);
}

// Drops the value of a successful result.
template <typename T>
Result<> Only(const Result<T>& result) {
  if (!result) return Fail(result.error());
  return {};
}

Result<> CheckInteger(const Value& value, std::string_view text) {
  const auto number = ParseInteger(text);
  if (!number) return Unless(false, text, "a whole number");
  if (*number < value.least || *number > value.most)
    return Fail(ErrorCode::kInvalid, "{} is not between {} and {}", *number, value.least,
                value.most);
  return {};
}

Result<> CheckDuration(const Value& value, std::string_view text) {
  const auto duration = ParseDuration(text);
  if (!duration) return Fail(duration.error());
  if (duration->count() < value.least) return Fail(ErrorCode::kInvalid, "it must be longer than 0");
  return {};
}

Result<> CheckShare(const Value& value, std::string_view text) {
  const auto share = ParseHostShare(text);
  if (!share) return Fail(share.error());
  if (share->number < value.least)
    return Fail(ErrorCode::kInvalid, "'{}': the smallest is {}", text, value.least);
  return {};
}

Result<> CheckTargets(const std::string& text) {
  if (HasExpressions(text))
    return Fail(ErrorCode::kInvalid,
                "targets hold no templates: a start may say others with -t instead");
  return Only(TargetExpression::Parse(text));
}

Result<> CheckScript(std::string_view text) {
  if (Trim(text).empty()) return Fail(ErrorCode::kInvalid, "the script is empty");
  const auto at = text.find("${{");
  if (at == std::string_view::npos) return {};
  const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
  return Fail(ErrorCode::kInvalid,
              "line {} of the script has ${{{{: a script is code and is never put together; use "
              "$MUSTER_PARAM_NAME, or hand the value over with 'args' or 'env'",
              line);
}

// The text before the first template; all of it when there is none.
std::string_view Literal(std::string_view text) { return text.substr(0, text.find("${{")); }

Result<> CheckPath(std::string_view text) {
  if (auto parsed = Only(NamesIn(text)); !parsed) return parsed;
  const auto literal = Literal(text);
  const bool absolute = literal.starts_with('/') || (literal.empty() && !text.empty());
  return Unless(absolute, text, "an absolute path on the host");
}

Result<> CheckAddress(const Value& value, std::string_view text) {
  if (value.place == Place::kNowhere && text.starts_with("secret:"))
    return CheckValue({.form = Form::kSecret}, std::string(text));
  if (value.place != Place::kNowhere)
    if (auto parsed = Only(NamesIn(text)); !parsed) return parsed;
  const auto literal = Literal(text);
  const bool whole = literal.starts_with("http://") || literal.starts_with("https://");
  return Unless(whole || (literal.empty() && !text.empty()), text,
                "an address that begins with http:// or https://");
}

Result<> CheckFile(std::string_view text) {
  if (text.empty() || text.starts_with('/'))
    return Fail(ErrorCode::kInvalid,
                "'{}' is not a path relative to the document; a document may use only files inside "
                "the folder that is applied",
                text);
  // A zero byte would end the path for the system, and not for a reader.
  return Unless(std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }),
                "…", "a path: it has control characters");
}

Result<> CheckMode(std::string_view text) {
  return Unless(ParseMode(text).has_value(), text, "a file mode, as in '0644'");
}

Result<> CheckOwner(std::string_view text) {
  const auto parts = Split(text, ':');
  const auto name = [](std::string_view part) {
    return part.empty() ||
           IsWord(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", ".-$");
  };
  const bool good =
      text != ":" && !text.empty() && parts.size() <= 2 && std::ranges::all_of(parts, name);
  return Unless(good, text, "an owner; write user, user:group or :group");
}

Result<> CheckVariable(std::string_view text) {
  if (text.starts_with("MUSTER_"))
    return Fail(ErrorCode::kInvalid, "variables that begin with MUSTER_ are set by Muster");
  return Unless(IsWord(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", ""), text,
                "a variable's name: letters, digits and _, at most 100");
}

Result<> CheckStatus(std::string_view text) {
  return Unless(IsWord(text, kLetters, "_.-"), text,
                "an outcome or a status: letters, digits, _ . -");
}

Result<> CheckPointer(std::string_view text,
                      std::string_view expected = "a JSON pointer, as in /items/0/id") {
  bool good = text.empty() || text.starts_with('/');
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '~') good = good && i + 1 < text.size() && In(text[i + 1], "01");
  return Unless(good, text, expected);
}

Result<> CheckNumber(std::string_view text) {
  if (text.find("${{") != std::string_view::npos) return Only(NamesIn(text));
  const auto number = ParseReading(text);
  return Unless(number && std::isfinite(*number) && text != "true" && text != "false", text,
                "a number, as in 0.9");
}

Result<> CheckSmall(const Value& value, const std::string& text) {
  constexpr std::string_view kSmallName = "a name: small letters, digits, _ and -, a letter first";
  switch (value.form) {
    case Form::kStage:
      return Unless(IsWord(text, kLower, "_-"), text, kSmallName);
    case Form::kParam:
      return Unless(IsWord(text, kLower, "_-"), text, kSmallName);
    case Form::kOutput:
      return Unless(IsWord(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", "-"),
                    text, "an output's name: letters, digits, _ and -");
    case Form::kHeader:
      return Unless(IsWord(text, kLetters, "-_"), text, "the name of a header");
    case Form::kName:
      return Unless(IsName(text), text, "a name: letters, digits, . _ -, at most 100");
    default:
      return Unless(text == "true" || text == "false", text, "true or false");
  }
}

}  // namespace

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> ParseMode(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() < 3 || text.size() > 5 || mode > 07777) return std::nullopt;
  return mode;
}

Result<std::uint64_t> ParseRate(std::string_view text) {
  const auto rate = ParseSize(text.ends_with("/s") ? text.substr(0, text.size() - 2) : text);
  if (rate && *rate == 0)
    return Fail(ErrorCode::kInvalid, "a rate of 0 would never end; leave it out for no limit");
  return rate;
}

Result<> CheckValue(const Value& value, const std::string& text) {
  switch (value.form) {
    case Form::kProse:
    case Form::kText:
      return {};
    case Form::kHost:
      return CheckHostName(text);
    case Form::kHosts:
      return {};  // the builder expands them, within the document's budget
    case Form::kLabel:
      return CheckLabel(text, "");
    case Form::kVariable:
      return CheckVariable(text);
    case Form::kStatus:
      return CheckStatus(text);
    case Form::kInteger:
      return CheckInteger(value, text);
    case Form::kDuration:
      return CheckDuration(value, text);
    case Form::kSize:
      return Only(ParseSize(text));
    case Form::kRate:
      return Only(ParseRate(text));
    case Form::kShare:
      return CheckShare(value, text);
    case Form::kBatches:
      if (Trim(text).empty()) return Unless(false, text, "a plan of batches");
      return Only(ParseBatchPlan(text));
    case Form::kCpu:
      return Only(ParseCpu(text));
    case Form::kMode:
      return CheckMode(text);
    case Form::kOwner:
      return CheckOwner(text);
    case Form::kTargets:
      return CheckTargets(text);
    case Form::kPattern:
      return CheckPattern(text);
    case Form::kPath:
      return CheckPath(text);
    case Form::kFile:
      return CheckFile(text);
    case Form::kPointer:
      return CheckPointer(text);
    case Form::kReading:
      if (text == ConditionAction::kStatus) return {};
      return CheckPointer(text, "a JSON pointer, as in /items/0/used, or 'status'");
    case Form::kNumber:
      return CheckNumber(text);
    case Form::kAddress:
      return CheckAddress(value, text);
    case Form::kSecret:
      return Unless(IsSecretReference(text), "…", "the name of a secret; write secret:NAME");
    case Form::kChoice:
      if (std::ranges::find(value.choices, text) != value.choices.end()) return {};
      return Fail(ErrorCode::kInvalid, "'{}' is not {}{}", Shortened(text), Either(value.choices),
                  value.choices.size() > 1 && !Nearest(text, value.choices).empty()
                      ? Suggestion(text, value.choices)
                      : "");
    case Form::kTemplate:
      return Only(NamesIn(text));
    case Form::kCondition:
      return Only(NamesInCondition(text));
    case Form::kScript:
      return CheckScript(text);
    case Form::kStage:
    case Form::kParam:
    case Form::kOutput:
    case Form::kHeader:
    case Form::kName:
    case Form::kFlag:
      return CheckSmall(value, text);
  }
  return {};
}

bool MayHoldTemplate(const Value& value) {
  return value.place != Place::kNowhere || value.form == Form::kProse ||
         value.form == Form::kScript || value.form == Form::kTargets;
}

std::string_view Describe(const Value& value) {
  switch (value.form) {
    case Form::kInteger:
      return "a whole number";
    case Form::kFlag:
      return "true or false";
    case Form::kDuration:
      return "a duration (90s, 15m, 1h30m)";
    case Form::kSize:
      return "a size (64k, 16MB)";
    case Form::kRate:
      return "a size for each second (10MB)";
    case Form::kShare:
      return "a number of hosts or a percentage";
    case Form::kBatches:
      return "a plan of batches";
    case Form::kCpu:
      return "a number of processors";
    case Form::kNumber:
      return "a number";
    case Form::kTargets:
      return "a target expression";
    case Form::kPattern:
      return "a regular expression";
    case Form::kCondition:
      return "a condition";
    case Form::kName:
    case Form::kStage:
    case Form::kHost:
    case Form::kHosts:
      return "a name";
    case Form::kPath:
    case Form::kFile:
      return "a path";
    case Form::kProse:
    case Form::kText:
    case Form::kParam:
    case Form::kVariable:
    case Form::kLabel:
    case Form::kOutput:
    case Form::kHeader:
    case Form::kStatus:
    case Form::kMode:
    case Form::kOwner:
    case Form::kPointer:
    case Form::kReading:
    case Form::kAddress:
    case Form::kSecret:
    case Form::kChoice:
    case Form::kTemplate:
    case Form::kScript:
      return "a text";
  }
  return "a text";
}

}  // namespace muster::documents
