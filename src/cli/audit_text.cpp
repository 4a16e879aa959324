#include "cli/audit_text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/output.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kMostScriptLines = 10;

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

}  // namespace

std::string AuditEntryText(const boost::json::value& entry, bool whole) {
  std::string text =
      fmt::format("#{}  {}  {}  {}  {}\n", NumberOf(entry, "number"), LineOf(entry, "at"),
                  LineOf(entry, "actor"), LineOf(entry, "act"), LineOf(entry, "object"));
  if (const auto hosts = NumberOf(entry, "hosts"); hosts > 0)
    text += fmt::format("    on {}: {}\n", Hosts(static_cast<std::uint64_t>(hosts)),
                        LineOf(entry, "names"));
  const auto script = Script(entry, whole);
  text += script.empty() ? Part("", LineOf(entry, "detail")) : script;
  text += Part("because ", LineOf(entry, "reason"));
  text += fmt::format("    from {}", LineOf(entry, "address"));
  const auto client = LineOf(entry, "client");
  text += client.empty() ? "\n" : fmt::format(" with {}\n", client);
  if (whole && !TextOf(entry, "command_sha256").empty())
    text += Part("command sha256 ", LineOf(entry, "command_sha256"));
  if (whole) text += Part("hash ", LineOf(entry, "hash"));
  return text;
}

}  // namespace muster::cli
