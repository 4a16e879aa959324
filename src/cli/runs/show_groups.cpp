#include "cli/runs/show_groups.hpp"

#include <algorithm>
#include <vector>

#include "cli/runs/report.hpp"
#include "cli/terminal/text_diff.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kGroupsShown = 50;
constexpr std::size_t kMostSampledHosts = 10;  // each is a call to the server
constexpr std::size_t kSampleLines = 2;
constexpr std::size_t kSampleBytes = 4 << 10;
constexpr std::size_t kDiffBytes = 256 << 10;
constexpr std::size_t kDiffLines = 60;

bool IsOver(const OutcomeGroup& group) {
  const auto state = ParseTaskState(group.state);
  return state && IsFinal(*state);
}

// The biggest of those that said something.
const OutcomeGroup* MajorityOf(const std::vector<OutcomeGroup>& groups) {
  const OutcomeGroup* most = nullptr;
  for (const auto& group : groups)
    if (IsOver(group) && group.bytes > 0 && (most == nullptr || group.count > most->count))
      most = &group;
  return most;
}

class GroupText {
 public:
  GroupText(const Context& context, ApiClient& api, const std::string& run,
            const GroupsChoice& choice, std::string_view before)
      : context_(context), api_(api), run_(run), choice_(choice), before_(before) {}

  Result<ShownText> Of(const std::vector<OutcomeGroup>& groups) {
    const OutcomeGroup* majority = choice_.diff ? MajorityOf(groups) : nullptr;
    if (majority != nullptr) {
      auto output = OutputOf(*majority, kDiffBytes);
      if (!output) return Fail(output.error());
      most_said_ = std::move(*output);
    }
    ShownText text;
    for (std::size_t i = 0; i < groups.size() && i < kGroupsShown; ++i) {
      text += OwnText(i == 0 ? before_ : "\n");
      text += OwnLine(Head(groups[i]) + (&groups[i] == majority ? " (most)" : ""));
      if (!IsOver(groups[i]) || groups[i].sample_host.empty()) continue;
      if (i >= kMostSampledHosts) {
        if (groups[i].bytes > 0) text += OwnLine("  " + WhereItsOutputIs(groups[i]));
        continue;
      }
      auto below = majority == nullptr || majority == &groups[i] ? Sample(groups[i])
                                                                 : Difference(groups[i], *majority);
      if (!below) return below;
      text += *below;
    }
    return text;
  }

 private:
  std::string WhereItsOutputIs(const OutcomeGroup& group) const {
    return fmt::format("… its output: muster logs {} --host {}{}{}", run_, group.sample_host,
                       choice_.stage.empty() ? "" : " --stage ", choice_.stage);
  }

  std::string Head(const OutcomeGroup& group) const {
    return Paint(GroupHead(group), ColourOf(group.state), context_.terminal.colour_out);
  }

  Result<std::string> OutputOf(const OutcomeGroup& group, std::size_t most) {
    if (group.bytes == 0) return std::string();
    auto log = api_.GetRawLog(
        run_,
        {{"host", group.sample_host}, {"stage", choice_.stage}, {"limit", std::to_string(most)}});
    if (!log) return Fail(log.error());
    return std::move(log->bytes);
  }

  Result<ShownText> Sample(const OutcomeGroup& group) {
    const auto output = OutputOf(group, kSampleBytes);
    if (!output) return Fail(output.error());
    return Indented(*output, kSampleLines,
                    fmt::format("… more: muster logs {} --host {}", run_, group.sample_host));
  }

  Result<ShownText> Difference(const OutcomeGroup& group, const OutcomeGroup& majority) {
    const auto output = OutputOf(group, kDiffBytes);
    if (!output) return Fail(output.error());
    if (*output == most_said_) return OwnText("  the same output as most\n");
    const std::string head = fmt::format("--- {} (as {})\n+++ {}\n", majority.sample_host,
                                         Hosts(majority.count), group.sample_host);
    return Indented(head + TextDiff(most_said_, *output), kDiffLines, "… and more differs");
  }

  ShownText Indented(std::string_view output, std::size_t most, const std::string& more) const {
    std::size_t left = 0;
    const auto lines = FirstLines(output, most, left);
    ShownText text;
    for (std::size_t at = 0; at < lines.size();) {
      const auto end = std::min(lines.find('\n', at), lines.size());
      text += OwnText("  ");
      text += HostOutput(lines.substr(at, end - at), context_.terminal.stdout_tty);
      text += OwnText("\n");
      at = end + 1;
    }
    if (left > 0) text += OwnLine("  " + more);
    return text;
  }

  const Context& context_;
  ApiClient& api_;
  const std::string run_;
  const GroupsChoice choice_;
  const std::string before_;
  std::string most_said_;
};

}  // namespace

Result<json::value> FetchGroups(ApiClient& api, const std::string& run,
                                const GroupsChoice& choice) {
  return api.Get(fmt::format("/runs/{}/groups", Segment(run)),
                 {{"stage", choice.stage}, {"masked", choice.masked ? "true" : ""}});
}

Result<ShownText> ShowGroups(const Context& context, ApiClient& api, const std::string& run,
                             const GroupsChoice& choice, std::string_view before) {
  const auto answer = FetchGroups(api, run, choice);
  if (!answer) return Fail(answer.error());
  const auto groups = GroupsOf(*answer);
  auto text = GroupText(context, api, run, choice, before).Of(groups);
  if (!text) return text;
  const auto total = static_cast<std::size_t>(NumberOf(*answer, "groups_total"));
  const std::size_t shown = std::min(groups.size(), kGroupsShown);
  if (total > shown)
    *text += OwnText(fmt::format(
        "\n… and {} more outcome{}{}\n", Count(total - shown), total - shown == 1 ? "" : "s",
        choice.masked ? ""
                      : "; --masked takes those as equal that differ by host, "
                        "address, time or process only"));
  return text;
}

}  // namespace muster::cli
