#include "cli/runs/run_changes.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/runs/report.hpp"

namespace muster::cli {
namespace {

void Add(std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; }

}  // namespace

std::string WorkText(const boost::json::value& run) {
  const auto job = LineOf(run, "job");
  if (job.empty()) return LineOf(run, "title");
  const auto version = NumberOf(run, "version");
  return version > 0 ? fmt::format("{} (version {})", job, version) : job;
}

std::string ParamsText(const boost::json::value& run) {
  constexpr std::size_t kMostValue = 60;
  std::string text;
  const auto& params = FieldOf(run, "params");
  if (!params.is_object()) return text;
  for (const auto& item : params.as_object()) {
    std::string value = item.value().is_string() ? std::string(item.value().as_string()) : "";
    if (value.size() > kMostValue) {
      CutText(value, kMostValue);
      value += "…";
    }
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", VisibleLine(item.key()),
                        VisibleLine(value));
  }
  return text;
}

std::string ChangesText(const boost::json::value& run) {
  std::string text;
  for (const auto& name : ListOf(run, "skips"))
    if (name.is_string()) Add(text, "skips " + VisibleLine(std::string_view(name.as_string())));
  for (const auto& set : ListOf(run, "limits")) {
    const auto stage = LineOf(set, "stage");
    const std::string before = stage.empty() ? "" : stage + ": ";
    if (const auto& number = FieldOf(set, "concurrency"); !number.is_null())
      Add(text, fmt::format("{}concurrency={}", before, NumberOf(set, "concurrency")));
    for (const auto* name : {"max_failures", "max_unreachable"})
      if (const auto share = LineOf(set, name); !share.empty())
        Add(text, fmt::format("{}{}={}", before, name, share));
  }
  return text;
}

}  // namespace muster::cli
