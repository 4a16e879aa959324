#include "adapters/egress/answer.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace muster::outside {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostOutputValue = 64 << 10;
constexpr std::size_t kMostReading = 1024;
constexpr std::size_t kMostExcerpt = 200;
constexpr std::string_view kMask = "***";

bool IsExpected(std::uint16_t status, const std::vector<std::uint16_t>& expect) noexcept {
  if (expect.empty()) return status >= 200 && status < 300;
  return std::ranges::find(expect, status) != expect.end();
}

// The beginning of an answer's body, when it is one line of text: servers say there what they miss.
std::string Excerpt(std::string_view body) {
  const auto line = Trim(body.substr(0, body.find('\n')));
  if (line.empty() || line.size() > kMostExcerpt || line.front() == '<' || !IsUtf8(line)) return {};
  return fmt::format(": {}", line);
}

std::string UnexpectedStatus(std::string_view what, const Answer& answer,
                             const std::vector<std::uint16_t>& expect) {
  const std::string expected = expect.empty() ? "2xx" : fmt::format("{}", fmt::join(expect, ", "));
  return fmt::format("{}: answered {}, expected {}{}", what, answer.status, expected,
                     Excerpt(answer.body));
}

std::string TextOf(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (const auto* number = value.if_double()) return fmt::format("{}", *number);
  return json::serialize(value);
}

Result<std::vector<std::pair<std::string, std::string>>> ReadOutputs(
    const std::map<std::string, std::string>& pointers, const std::string& body) {
  std::vector<std::pair<std::string, std::string>> outputs;
  if (pointers.empty()) return outputs;
  json::error_code problem;
  const json::value document = json::parse(body, problem);
  if (problem)
    return Fail(ErrorCode::kInvalid, "the answer is no JSON, so it has no output '{}'",
                pointers.begin()->first);
  for (const auto& [name, pointer] : pointers) {
    const json::value* found = document.find_pointer(pointer, problem);
    if (found == nullptr)
      return Fail(ErrorCode::kNotFound, "the answer has nothing at '{}' for output '{}'", pointer,
                  name);
    std::string text = TextOf(*found);
    if (text.size() > kMostOutputValue)
      return Fail(ErrorCode::kInvalid, "output '{}' has {}, more than {}", name,
                  FormatSize(text.size()), FormatSize(kMostOutputValue));
    outputs.emplace_back(name, std::move(text));
  }
  return outputs;
}

Result<std::optional<std::string>> ReadValue(const ConditionAction& action, const Answer& answer) {
  if (action.value == ConditionAction::kStatus) return std::to_string(answer.status);
  std::string text(Trim(answer.body));
  if (!action.value.empty()) {
    json::error_code problem;
    const json::value document = json::parse(answer.body, problem);
    if (problem)
      return Fail(ErrorCode::kInvalid, "the answer is no JSON, so it has no value at '{}'",
                  action.value);
    const json::value* found = document.find_pointer(action.value, problem);
    if (found == nullptr || found->is_null()) return std::nullopt;
    text = TextOf(*found);
  }
  if (text.empty()) return std::nullopt;
  if (text.size() > kMostReading)
    return Fail(ErrorCode::kInvalid, "the value has {}, which is no number",
                FormatSize(text.size()));
  return text;
}

bool SaysNo(const std::string& body) {
  json::error_code problem;
  const json::value document = json::parse(body, problem);
  const json::object* object = problem ? nullptr : document.if_object();
  if (object == nullptr) return false;
  if (const auto* ok = object->if_contains("ok"); ok && ok->is_bool() && !ok->get_bool())
    return true;
  const auto* code = object->if_contains("errcode");
  return code && code->is_int64() && code->get_int64() != 0;
}

void Mask(std::string& text, const std::vector<std::string>& masks) {
  for (const auto& mask : masks) {
    for (auto at = text.find(mask); at != std::string::npos;
         at = text.find(mask, at + kMask.size()))
      text.replace(at, mask.size(), kMask);
  }
}

}  // namespace

ServerOutcome JudgeHttp(const HttpAction& action, std::string_view what, Answer answer) {
  ServerOutcome outcome{.status = answer.status};
  if (!IsExpected(answer.status, action.expect)) {
    outcome.reason = UnexpectedStatus(what, answer, action.expect);
  } else if (auto outputs = ReadOutputs(action.outputs, answer.body); !outputs) {
    outcome.reason = fmt::format("{}: {}", what, outputs.error().message);
  } else {
    outcome.state = TaskState::kSucceeded;
    outcome.outputs = std::move(*outputs);
  }
  outcome.output = std::move(answer.body);
  return outcome;
}

ServerOutcome JudgeReading(const ConditionAction& action, std::string_view what, Answer answer) {
  ServerOutcome outcome{.status = answer.status};
  const auto& expect = action.request.expect;
  const bool any = action.value == ConditionAction::kStatus && expect.empty();
  if (!any && !IsExpected(answer.status, expect)) {
    outcome.reason = UnexpectedStatus(what, answer, expect);
  } else if (auto value = ReadValue(action, answer); !value) {
    outcome.reason = fmt::format("{}: {}", what, value.error().message);
  } else {
    outcome.state = TaskState::kSucceeded;
    if (*value) outcome.outputs.emplace_back("value", std::move(**value));
  }
  outcome.output = std::move(answer.body);
  return outcome;
}

ServerOutcome JudgeMessage(const ChannelMessage& message, std::string_view what, Answer answer) {
  ServerOutcome outcome{.status = answer.status};
  const bool says_no =
      std::holds_alternative<ChatChannel>(message.channel.way) && SaysNo(answer.body);
  if (message.secret_url) answer.body.clear();
  if (!IsExpected(answer.status, {}))
    outcome.reason = UnexpectedStatus(what, answer, {});
  else if (says_no)
    outcome.reason = fmt::format("{}: did not take the message{}", what, Excerpt(answer.body));
  else
    outcome.state = TaskState::kSucceeded;
  outcome.output = std::move(answer.body);
  return outcome;
}

void Clean(ServerOutcome& outcome, const std::vector<std::string>& masks) {
  // Longest first, as one secret may be a part of another.
  std::vector<std::string> sorted;
  std::ranges::copy_if(masks, std::back_inserter(sorted),
                       [](const std::string& mask) { return !mask.empty(); });
  std::ranges::sort(sorted, std::ranges::greater(), &std::string::size);
  Mask(outcome.reason, sorted);
  Mask(outcome.output, sorted);
  for (auto& [name, value] : outcome.outputs) Mask(value, sorted);
  if (outcome.output.size() > ServerOutcome::kMostOutput)
    outcome.output.resize(ServerOutcome::kMostOutput);
}

}  // namespace muster::outside
