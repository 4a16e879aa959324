#include "cli/audit/audit_text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kMostScriptLines = 10;
constexpr std::size_t kMostStageLines = 10;

// What was executed: all of it when the answer carries the run's own copy.
std::string Executed(const boost::json::value& entry) {
  const auto& command = FieldOf(FieldOf(entry, "spec"), "command");
  if (const auto script = TextOf(command, "script"); !script.empty()) return script;
  return TextOf(entry, "command");
}

std::string Script(const boost::json::value& entry, bool whole) {
  const std::string script = Executed(entry);
  if (script.empty()) return {};
  std::string text;
  std::size_t lines = 0;
  for (const auto line : Split(Trim(script), '\n')) {
    if (!whole && lines == kMostScriptLines)
      return text + fmt::format("    … (muster audit show {})\n", NumberOf(entry, "number"));
    text += fmt::format("    {} {}\n", lines++ == 0 ? "$" : ">", line);
  }
  return text;
}

std::string Part(std::string_view what, const std::string& text) {
  return text.empty() ? "" : fmt::format("    {}{}\n", what, text);
}

std::string Joined(const boost::json::value& facts, std::string_view name) {
  std::string text;
  for (const auto& item : ListOf(facts, name))
    if (item.is_string())
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          VisibleLine(std::string_view(item.get_string())));
  return text;
}

std::string StageLine(const boost::json::value& stage, bool whole) {
  std::string line = fmt::format("stage {}: {}", LineOf(stage, "name"), LineOf(stage, "action"));
  const auto text = TextOf(stage, "text");
  std::size_t lines = 0;
  for (const auto one : Split(Trim(text), '\n')) {
    if (lines > 0 && !whole) break;
    line += (lines++ == 0 ? " " : "\n      ") + VisibleLine(one);
  }
  if (const auto user = LineOf(stage, "user"); !user.empty()) line += " as " + user;
  if (const auto env = Joined(stage, "env"); !env.empty()) line += " with " + env;
  if (const auto sha256 = LineOf(stage, "sha256"); whole && !sha256.empty())
    line += " sha256 " + sha256;
  return line;
}

// The job, its parameters and stages, and under which approvals.
std::string FactsText(const boost::json::value& entry, bool whole) {
  const auto& facts = FieldOf(entry, "facts");
  std::string text;
  if (const auto job = LineOf(facts, "job"); !job.empty()) {
    const std::string what = fmt::format("job {} version {}", job, NumberOf(facts, "version"));
    // The sentence of a start says it already.
    if (!LineOf(entry, "detail").starts_with(what + " ")) text += Part("", what);
  }
  if (const auto& params = FieldOf(facts, "params"); params.is_object())
    for (const auto& item : params.get_object())
      text += Part("param ", fmt::format("{}={}", VisibleLine(std::string_view(item.key())),
                                         LineOf(params, std::string_view(item.key()))));
  std::size_t shown = 0;
  const auto stages = ListOf(facts, "stages");
  const bool only = stages.size() == 1;
  for (const auto& stage : stages) {
    if (!whole && shown++ == kMostStageLines) {
      text += fmt::format("    … (muster audit show {})\n", NumberOf(entry, "number"));
      break;
    }
    if (whole || !only || !LineOf(stage, "user").empty() || !Joined(stage, "env").empty())
      text += Part("", StageLine(stage, whole));
  }
  text += Part("secrets ", Joined(facts, "secrets"));
  text += Part("channels ", Joined(facts, "channels"));
  text += Part("approvals ", Joined(facts, "approvals"));
  text += Part("starters ", Joined(facts, "starters"));
  if (whole) text += Part("title ", LineOf(facts, "title"));
  if (whole) text += Part("plan sha256 ", LineOf(facts, "plan_sha256"));
  return text;
}

}  // namespace

std::string AuditEntryText(const boost::json::value& entry, bool whole, const Times& times) {
  std::string text = fmt::format("#{}  {}  {}  {}  {}\n", NumberOf(entry, "number"),
                                 times.Text(TextOf(entry, "at")), LineOf(entry, "actor"),
                                 LineOf(entry, "act"), LineOf(entry, "object"));
  if (const auto hosts = NumberOf(entry, "hosts"); hosts > 0)
    text += fmt::format("    on {}: {}\n", Hosts(static_cast<std::uint64_t>(hosts)),
                        LineOf(entry, "names"));
  const auto script = Script(entry, whole);
  text += script;
  text += Part("", times.InText(LineOf(entry, "detail")));
  text += FactsText(entry, whole);
  text += Part("because ", LineOf(entry, "reason"));
  // Without one it is the server's doing: a slot of a trigger, a stage that starts a run.
  const auto client = LineOf(entry, "client");
  if (const auto address = LineOf(entry, "address"); !address.empty())
    text += Part("from ", client.empty() ? address : fmt::format("{} with {}", address, client));
  if (whole && !TextOf(entry, "command_sha256").empty())
    text += Part("command sha256 ", LineOf(entry, "command_sha256"));
  if (whole) text += Part("hash ", LineOf(entry, "hash"));
  return text;
}

}  // namespace muster::cli
