#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_changes.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/terminal/confirm.hpp"

// Answers to what a run waits for. An answer names the approval that the person was shown, so that
// it is refused when the run has changed since.
namespace muster::cli {
namespace {

namespace json = boost::json;

struct AnswerFlags {
  std::string run;
  std::string stage;
  std::string comment;
  std::string approval;
  bool yes = false;
};

// What waits in the run, of one stage if one is named.
Result<std::vector<json::value>> Waiting(const Context& context, ApiClient& api,
                                         const AnswerFlags& flags, const std::string& run) {
  std::vector<json::value> waiting;
  const auto take = [&](const json::value& visit) {
    if (TextOf(visit, "state") == "awaiting_approval" &&
        (flags.stage.empty() || TextOf(visit, "stage") == flags.stage))
      waiting.push_back(visit);
    return true;
  };
  const auto pages = Persist(context, kPatience, [&] {
    waiting.clear();
    return api.Pages(fmt::format("/runs/{}/visits", Segment(run)), {}, "visits", take);
  });
  if (!pages) return Fail(pages.error());
  return waiting;
}

// "upgrade (version 3) on 20 hosts, pass 2, by ann, bob; changed: skips verify".
std::string About(const json::value& run) {
  std::string text = fmt::format("{} on {}", WorkText(run),
                                 Hosts(static_cast<std::uint64_t>(NumberOf(run, "hosts"))));
  if (const auto pass = NumberOf(run, "pass"); pass > 1) text += fmt::format(", pass {}", pass);
  text += ", by " + LineOf(run, "by");
  for (const auto& name : ListOf(run, "starters"))
    if (name.is_string()) text += ", " + VisibleLine(std::string_view(name.as_string()));
  if (const auto changes = ChangesText(run); !changes.empty()) text += "; changed: " + changes;
  return text;
}

// Shows at a terminal what is approved, and asks.
Result<bool> Shown(const Context& context, ApiClient& api, const AnswerFlags& flags,
                   const std::string& id, const json::value& visit) {
  if (flags.yes || !flags.approval.empty() || !context.CanAsk()) return true;
  const auto run = api.Get("/runs/" + Segment(id));
  if (!run) return Fail(run.error());
  const auto stage = TextOf(visit, "stage");
  if (const auto refusal = TextOf(FieldOf(visit, "approvers"), "refusal"); !refusal.empty())
    return Fail(ErrorCode::kDenied, "{}", refusal);
  return Agreed(context, api, flags.yes, Role::kOperator,
                {.act = fmt::format("Approve stage {} of {}", stage, id),
                 .names = fmt::format("{}: {}; {} asks: {}", id, About(*run), stage,
                                      TextOf(visit, "message"))});
}

Result<int> Answer(const Context& context, const AnswerFlags& flags, bool approved) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const std::string run = RunIdOf(flags.run);
  json::object body;
  if (!flags.stage.empty()) body["stage"] = flags.stage;
  if (!flags.comment.empty()) body["comment"] = flags.comment;
  if (!flags.approval.empty()) body["approval"] = flags.approval;
  const auto waiting = Waiting(context, *api, flags, run);
  if (!waiting) return Fail(waiting.error());
  // With none, or with several and no name, the server says what is wrong.
  if (flags.approval.empty() && waiting->size() == 1) {
    const json::value& visit = waiting->front();
    if (approved) {
      const auto shown = Shown(context, *api, flags, run, visit);
      if (!shown) return Fail(shown.error());
      if (!*shown) return kExitInterrupted;
    }
    if (const auto approval = TextOf(visit, "approval"); !approval.empty())
      body["approval"] = approval;
  }
  const auto answer = Persist(context, kPatience, [&] {
    return api->Post(fmt::format("/runs/{}/{}", Segment(run), approved ? "approve" : "reject"),
                     body);
  });
  if (!answer) return Fail(answer.error());
  if (!context.PrintDocument(*answer))
    context.Say(fmt::format("{} {}", approved ? "approved" : "rejected", run));
  return 0;
}

CLI::App* AddAnswer(CLI::App& app, Context& context, bool approved, const char* about,
                    const char* examples) {
  auto* command = app.add_subcommand(approved ? "approve" : "reject", about);
  const auto flags = std::make_shared<AnswerFlags>();
  command->footer(examples);
  command->add_option("run", flags->run, "Which run")->type_name("RUN")->required();
  command->add_option("stage", flags->stage, "Which stage, when several wait")->type_name("STAGE");
  command->add_option("--comment", flags->comment, "Comment, for the audit trail");
  command
      ->add_option("--approval", flags->approval,
                   "Answer only this approval; 'muster show' prints its id")
      ->type_name("ID");
  if (approved) command->add_flag("-y,--yes", flags->yes, "Do not ask");
  command->callback([&context, flags, approved] {
    context.action = [&context, flags, approved] { return Answer(context, *flags, approved); };
  });
  return command;
}

}  // namespace

void AddAnswers(CLI::App& app, Context& context) {
  AddAnswer(app, context, true, "Approve a stage that waits for an approval", R"(Examples:
  muster show r12                      what is asked
  muster approve r12                   shows it again, and asks at a terminal
  muster approve r12 roll              when several stages wait
  muster approve r12 --approval 7-1-9f3a0c11d2e4
                                       only if the run has not changed since it was read)");
  AddAnswer(app, context, false, "Reject an approval that a run waits for; its stage fails",
            R"(Examples:
  muster reject r12 --comment 'not on a Friday')");
}

}  // namespace muster::cli
