#include "cli/runs/plan_text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/visible.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/terminal_text.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

std::string ShareText(const json::object& values) {
  std::string text;
  for (const auto& item : values) {
    const auto hosts = NumberOf(item.value(), "hosts");
    const auto all = NumberOf(item.value(), "of");
    text +=
        fmt::format("{}{} {} of {} ({}%)", text.empty() ? "" : ", ", std::string_view(item.key()),
                    hosts, all, all == 0 ? 0 : (hosts * 100 + all / 2) / all);
  }
  return text;
}

}  // namespace

std::string SharesText(const json::value& plan) {
  std::string text;
  const json::value shares = FieldOf(plan, "shares");
  if (!shares.is_object()) return text;
  for (const auto& item : shares.get_object())
    if (item.value().is_object())
      text +=
          fmt::format("{}: {}\n", VisibleLine(item.key()), ShareText(item.value().get_object()));
  return text;
}

std::string HindrancesText(const json::value& plan) {
  std::string text = LeftOutText(plan);
  if (!text.empty()) text += '\n';
  for (const auto& line : ListOf(plan, "hindrances"))
    if (line.is_string()) text += fmt::format("but: {}\n", VisibleLine(line.get_string()));
  return text;
}

std::string LimitText(const json::value& stage, std::string_view name) {
  if (TextOf(stage, "on_limit").empty()) return {};
  const std::string unreachable = LineOf(stage, "max_unreachable");
  return fmt::format(
      "{} {} when more than {} fail in a batch{}, or none of a batch succeeds and some are not "
      "reached\n",
      name, TextOf(stage, "on_limit") == "pause" ? "pauses" : "fails",
      LineOf(stage, "max_failures"),
      unreachable.empty() ? "" : fmt::format(", more than {} are not reached", unreachable));
}

void SayWarnings(const Context& context, const json::value& answer) {
  for (const auto& line : ListOf(answer, "warnings")) {
    if (!line.is_string()) continue;
    context.Say(fmt::format("warning: {}", std::string_view(line.get_string())));
  }
}

std::string LeftOutText(const json::value& plan) {
  const auto left_out = LineOf(plan, "left_out");
  return left_out.empty() ? "" : fmt::format("left out: {}", left_out);
}

void SayLeftOut(const Context& context, const json::value& started) {
  const auto left_out = TextOf(started, "left_out");
  if (left_out.empty()) return;
  const bool maintained = left_out.contains(" in maintenance: ");
  context.Say(
      fmt::format("left out {}{}", left_out,
                  maintained ? "; --include-maintenance takes those in maintenance, too" : ""));
}

}  // namespace muster::cli
