#include "cli/runs/approval_text.hpp"

#include <vector>

#include "base/visible.hpp"
#include "cli/terminal/output.hpp"
#include "domain/approvers.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

std::vector<std::string> NamesIn(const json::value& approvers, std::string_view field) {
  std::vector<std::string> names;
  for (const auto& name : ListOf(approvers, field))
    if (name.is_string()) names.push_back(VisibleLine(std::string_view(name.get_string())));
  return names;
}

}  // namespace

std::string WhoMayAnswer(const json::value& visit) {
  const auto& approvers = FieldOf(visit, "approvers");
  return ApproversText(NamesIn(approvers, "by"), NamesIn(approvers, "not"));
}

std::string DecisionText(const json::value& visit, const Times& times) {
  const auto& decision = FieldOf(visit, "decision");
  if (!decision.is_object()) return {};
  const auto by = LineOf(decision, "by");
  const auto comment = LineOf(decision, "comment");
  return fmt::format("{} was {} {} at {}{}{}", LineOf(visit, "stage"),
                     FlagOf(decision, "approved") ? "approved" : "rejected",
                     by.empty() ? "by its timeout" : "by " + by, times.Text(TextOf(decision, "at")),
                     comment.empty() ? "" : ": ", comment);
}

}  // namespace muster::cli
