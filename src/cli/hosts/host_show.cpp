#include <algorithm>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/hosts/hosts_command.hpp"
#include "cli/terminal/output_option.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostShowExamples = R"(Examples:
  muster hosts show web7               all that is known of it
  muster hosts show web7 --runs 50     with its last 50 runs
  muster hosts show web7 -o json)";

struct HostShowFlags {
  std::string name;
  std::size_t runs = 10;
};

bool IsOpenResult(const json::value& run) {
  const auto state = ParseTaskState(TextOf(run, "result"));
  return state && !IsFinal(*state);
}

std::string HostResultText(const json::value& run) {
  const auto code = NumberOf(run, "exit_code");
  return TextOf(run, "result") + (code != 0 ? fmt::format(" (exit {})", code) : "");
}

// What is known of a host, apart from its runs: a fact on each line.
class HostText {
 public:
  HostText(const json::value& host, const json::array& runs, WallTime now, const Times& times)
      : host_(host), now_(now), times_(times) {
    AddStanding();
    AddLine("address", LineOf(host_, "address"));
    AddLine("agent", LineOf(FieldOf(host_, "facts"), "agent"));
    AddLine("joined", times_.Text(TextOf(host_, "joined")));
    AddEach("labels", Labels());
    AddEach("facts", Facts());
    AddEach("tasks", OpenTasks(runs));
  }
  const std::string& Text() const { return text_; }

 private:
  // A value is visible as one line already.
  void AddLine(std::string_view name, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("{:<12} {}\n", name, value);
  }
  void AddEach(std::string_view name, const std::vector<std::string>& values) {
    for (const auto& value : values) {
      AddLine(name, value);
      name = "";
    }
  }

  void AddStanding() {
    AddLine("host", LineOf(host_, "name"));
    AddLine("state", VisibleLine(HostStateWord(host_)));
    const auto seen =
        TextOf(host_, FieldOf(host_, "last_seen").is_string() ? "last_seen" : "last_hello");
    AddLine("last seen", Ago(ParseTime(seen), now_) + " (" + times_.Text(seen) + ")");
    AddLine("note", LineOf(host_, "note"));
    AddLine("maintenance", VisibleLine(MaintenanceText(host_, times_)));
  }

  std::vector<std::string> Labels() const {
    std::vector<std::string> list;
    const auto& own = ListOf(host_, "own_labels");
    const auto& labels = FieldOf(host_, "labels");
    if (labels.is_object())
      for (const auto& label : labels.get_object()) {
        const bool its_own = std::ranges::find(own, json::value(label.key())) != own.end();
        list.push_back(fmt::format("{}={}{}", VisibleLine(label.key()), LineOf(labels, label.key()),
                                   its_own ? "  (chosen by the host)" : ""));
      }
    return list;
  }

  std::vector<std::string> Facts() const {
    std::vector<std::string> list;
    const auto& facts = FieldOf(host_, "facts");
    if (facts.is_object())
      for (const auto& fact : facts.get_object())
        if (fact.key() != "agent")
          list.push_back(fmt::format("{}={}", VisibleLine(fact.key()), LineOf(facts, fact.key())));
    return list;
  }

  std::vector<std::string> OpenTasks(const json::array& runs) const {
    std::vector<std::string> list;
    for (const auto& run : runs)
      if (IsOpenResult(run))
        list.push_back(fmt::format("{}  {}  {}", LineOf(run, "id"), LineOf(run, "result"),
                                   LineOf(run, "title")));
    if (list.empty() && NumberOf(host_, "running") > 0)
      list.push_back(fmt::format("{} running", NumberOf(host_, "running")));
    return list;
  }

  const json::value& host_;
  const WallTime now_;
  const Times& times_;
  std::string text_;
};

Result<int> ShowHost(const Context& context, const HostShowFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const std::string path = "/hosts/" + Segment(flags.name);
  const auto host = api->Get(path);
  if (!host) return Fail(host.error());
  const auto answer = api->Get(path + "/runs", {{"limit", std::to_string(flags.runs)}});
  if (!answer) return Fail(answer.error());
  const auto& runs = ListOf(*answer, "runs");
  json::value whole = *host;
  if (whole.is_object()) whole.get_object()["runs"] = runs;
  if (context.PrintDocument(whole)) return 0;
  const WallTime now = WallNow();
  Write(stdout, HostText(*host, runs, now, context.times).Text());
  if (runs.empty()) {
    Write(stdout, "runs         none\n");
    return 0;
  }
  Table table({"RUN", "RESULT", "WHEN", "BY", "WORK", "REASON"});
  for (const auto& run : runs)
    table.Add({TextOf(run, "id"), HostResultText(run), Ago(ParseTime(TextOf(run, "created")), now),
               TextOf(run, "by"),
               TextOf(run, "job").empty() ? TextOf(run, "title") : TextOf(run, "job"),
               TextOf(run, "reason")});
  table.Fit(context.terminal.columns, {5, 4, 3});
  Write(stdout, "\n" + table.Text(context.terminal.colour_out, 1));
  return 0;
}

}  // namespace

void AddHostShow(CLI::App& hosts, Context& context) {
  auto* show = hosts.add_subcommand("show", "Show one host: facts, labels, tasks, recent runs");
  const auto flags = std::make_shared<HostShowFlags>();
  show->footer(kHostShowExamples);
  show->add_option("name", flags->name, "Which host")->required()->type_name("HOST");
  show->add_option("-n,--runs", flags->runs, "Its last runs, at most as many")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  AddOutputOption(*show, context, {});
  show->callback([&context, flags] {
    context.action = [&context, flags] { return ShowHost(context, *flags); };
  });
}

}  // namespace muster::cli
