#include "server/commands/ca_command.hpp"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/system/system_clock.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "server/certificates/ca_rotation.hpp"
#include "server/certificates/ca_state.hpp"
#include "server/certificates/certificates.hpp"
#include "server/commands/command_line.hpp"

namespace muster::server {
namespace {

constexpr int kCaNotAgreed = 130;  // as muster's own

constexpr const char* kCaExamples = R"(Examples:
  musterd ca list
  musterd ca add --data /var/lib/muster && systemctl restart musterd
  musterd ca export | ssh s2 musterd ca add --from /dev/stdin   the other servers

To change the CA without any agent joining again, restart musterd after each step. In a cluster, do
each step on every server before the next one:
  musterd ca add     a new CA is trusted too; agents get it when they connect
  musterd ca use     the new CA signs; agents renew when they connect
  musterd ca drop    the old CA is no longer trusted)";

struct CaOptions {
  std::filesystem::path data;
  std::string from;
  bool force = false;
  bool yes = false;
};

// What a step does before it changes anything.
struct CaStep {
  std::string question;  // "" asks nothing
  Result<> safe = {};    // what stands against it
  std::string cuts_off;  // what --force costs
  std::function<Result<std::string>()> run;
};

Result<std::string> List(const std::filesystem::path& data) {
  const auto list = ListCas(data);
  if (!list) return Fail(list.error());
  std::string text;
  for (const auto& ca : *list)
    text += fmt::format("{}{:<8} fact.ca={}  ends {}", text.empty() ? "" : "\n", ca.role, ca.id,
                        FormatTime(ca.ends));
  return text;
}

// With what a musterd that ran here knows.
template <typename Check>
Result<> Judge(const CaOptions& options, Check check) {
  const auto state = ReadCaState(options.data);
  if (!state) return Fail(state.error());
  return check(*state);
}

Result<CaStep> PlanAdd(const CaOptions& options) {
  if (!options.from.empty())
    return CaStep{.question = {}, .cuts_off = {}, .run = [options]() -> Result<std::string> {
                    const auto exported = ReadWhole(options.from);
                    if (!exported) return Fail(exported.error());
                    return AddCaFrom(options.data, *exported);
                  }};
  const auto cas = LoadCas(options.data);
  if (!cas) return Fail(cas.error());
  return CaStep{
      .question = {},
      .safe = Judge(options, [&](const CaState& state) { return MayAddCa(state, cas->ids); }),
      .cuts_off = "a second CA in a cluster has to be taken back ('musterd ca drop')",
      .run = [data = options.data] { return AddCa(data); }};
}

Result<CaStep> PlanUse(const CaOptions& options) {
  const auto next = NextCaId(options.data);
  if (!next) return Fail(next.error());
  return CaStep{.question = fmt::format("Let CA {} sign, for {}", *next, options.data.string()),
                .safe = Judge(options,
                              [&](const CaState& state) {
                                return MayUseCa(state, *next, SystemClock().Read().wall);
                              }),
                .cuts_off =
                    "servers and hosts without the new CA are cut off until 'musterd ca undo', or "
                    "until they get it or join again",
                .run = [data = options.data] { return UseCa(data); }};
}

Result<CaStep> PlanUndo(const CaOptions& options) {
  const auto former = FormerCaId(options.data);
  if (!former) return Fail(former.error());
  return CaStep{
      .question = fmt::format("Let CA {} sign again, for {}", *former, options.data.string()),
      .safe = Judge(options,
                    [&](const CaState& state) {
                      return MayUndoCa(state, *former, SystemClock().Read().wall);
                    }),
      .cuts_off = "servers and hosts that do not trust this CA are cut off",
      .run = [data = options.data] { return UndoCa(data); }};
}

Result<CaStep> PlanDrop(const CaOptions& options) {
  const auto cas = LoadCas(options.data);
  if (!cas) return Fail(cas.error());
  if (cas->certs.size() == 1)
    return Fail(ErrorCode::kConflict, "only the CA that signs is trusted: there is none to drop");
  const std::string signer = cas->ids.front();
  return CaStep{
      .question = fmt::format("Trust CA {} only, for {}", signer, options.data.string()),
      .safe = Judge(options,
                    [&](const CaState& state) {
                      return MayDropCas(state, signer, SystemClock().Read().wall);
                    }),
      .cuts_off =
          "servers that sign with another CA are cut off, and hosts with a certificate of "
          "another CA must join again; there is no way back",
      .run = [data = options.data] { return DropCas(data); }};
}

// Which server this is, and who depends on its CAs.
std::string WhoDepends(const CaState& state) {
  std::vector<std::string> others;
  for (const auto& one : state.cluster.servers) others.push_back(one.name);
  std::uint64_t hosts = 0;
  for (const auto& one : state.cluster.hosts) hosts += one.count;
  return fmt::format(
      "This is server {}{}; it has {} active host{}, as of {}.", state.server,
      others.empty() ? "" : fmt::format(" of a cluster with {}", fmt::join(others, ", ")), hosts,
      hosts == 1 ? "" : "s", FormatTime(state.written));
}

// True when the person means it, or there is nobody to ask.
bool AgreedOnCa(const CaStep& step, const CaOptions& options) {
  if (step.question.empty() || options.yes || ::isatty(STDIN_FILENO) == 0) return true;
  if (const auto state = ReadCaState(options.data))
    std::fprintf(stderr, "%s\n", VisibleLines(WhoDepends(*state)).c_str());
  if (!step.safe)
    std::fprintf(stderr, "%s\nWith --force: %s.\n", VisibleLines(step.safe.error().message).c_str(),
                 step.cuts_off.c_str());
  std::fprintf(stderr, "%s? [y/N] ", VisibleLines(step.question).c_str());
  std::string line;
  std::getline(std::cin, line);
  const auto word = Trim(line);
  return word == "y" || word == "Y" || word == "yes";
}

int ComplainOfCa(const Error& error) {
  std::fprintf(stderr, "musterd: %s\n", VisibleLines(error.message).c_str());
  return 1;
}

int TakeStep(const CaOptions& options, Result<CaStep> (*plan)(const CaOptions&)) {
  const auto step = plan(options);
  if (!step) return ComplainOfCa(step.error());
  if (!step->safe && !options.force)
    return ComplainOfCa(
        {step->safe.error().code, fmt::format("{}. Nothing was done. --force does it anyway: {}",
                                              step->safe.error().message, step->cuts_off)});
  if (!AgreedOnCa(*step, options)) {
    std::fputs("nothing was done\n", stderr);
    return kCaNotAgreed;
  }
  const auto done = step->run();
  if (!done) return ComplainOfCa(done.error());
  std::printf("%s\n", VisibleLines(*done).c_str());
  return 0;
}

// A private key, so it is written for a pipe or a file, and nothing but it.
int Export(const CaOptions& options) {
  if (::isatty(STDOUT_FILENO) != 0)
    return ComplainOfCa({ErrorCode::kInvalid,
                         "this prints a private key; write it into a pipe, or into a file that "
                         "only you can read: (umask 077; musterd ca export > FILE)"});
  const auto text = ExportNextCa(options.data);
  if (!text) return ComplainOfCa(text.error());
  const bool written = std::fwrite(text->data(), 1, text->size(), stdout) == text->size() &&
                       std::fflush(stdout) == 0;
  return written ? 0 : ComplainOfCa({ErrorCode::kUnavailable, "cannot write the next CA"});
}

int ShowCas(const CaOptions& options) {
  const auto text = List(options.data);
  if (!text) return ComplainOfCa(text.error());
  std::printf("%s\n", VisibleLines(*text).c_str());
  return 0;
}

}  // namespace

int RunCaCommand(int argc, char** argv) {
  CLI::App app("Show and change the CA of the cluster", "musterd ca");
  app.footer(kCaExamples);
  app.require_subcommand(1);
  app.fallthrough();
  std::string data = "/var/lib/muster";
  CaOptions options;
  app.add_option("--data", data, "Data folder of the server (MUSTER_DATA)")
      ->type_name("DIR")
      ->envname("MUSTER_DATA")
      ->capture_default_str();
  std::function<int()> act;
  const auto add = [&](const char* name, const char* what, std::function<int()> run) {
    auto* command = app.add_subcommand(name, what);
    command->footer(kCaExamples);
    command->callback([&act, run = std::move(run)] { act = run; });
    return command;
  };
  const auto add_step = [&](const char* name, const char* what,
                            Result<CaStep> (*plan)(const CaOptions&)) {
    auto* command = add(name, what, [&options, plan] { return TakeStep(options, plan); });
    command->add_flag("--force", options.force, "Do it even if servers or hosts are cut off");
    return command;
  };
  const auto add_asking = [&](const char* name, const char* what,
                              Result<CaStep> (*plan)(const CaOptions&)) {
    add_step(name, what, plan)->add_flag("--yes", options.yes, "Do not ask");
  };
  add("list", "List the trusted CAs, and which one signs", [&] { return ShowCas(options); });
  add_step("add", "Make a new CA and trust it beside the old one", PlanAdd)
      ->add_option("--from", options.from,
                   "Trust the new CA of another server, from this file ('musterd ca export')")
      ->type_name("FILE");
  add("export", "Write the new CA with its key, for another server of the cluster",
      [&] { return Export(options); });
  add_asking("use", "Let the new CA sign", PlanUse);
  add_asking("undo", "Let the CA before 'use' sign again", PlanUndo);
  add_asking("drop", "Stop trusting every CA but the one that signs", PlanDrop);
  if (const auto wrong = ParseWords(app, argc, argv)) return *wrong;
  options.data = data;
  ::umask(077);
  return act();
}

}  // namespace muster::server
