#include "cli/runs/ask_params.hpp"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "cli/client/retries.hpp"
#include "cli/terminal/question.hpp"
#include "documents/documents.hpp"
#include "domain/param.hpp"
#include "domain/secret.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

// What the job declares; empty when its document cannot be read by this program.
std::vector<ParamSpec> DeclaredBy(const json::value& document) {
  const documents::Source source{.file = "job", .text = TextOf(document, "text")};
  // Only the parameters matter here, so any script will do.
  const auto read = documents::ReadAll(
      {&source, 1},
      [](const std::string&, const std::string&) -> Result<std::string> { return "true"; });
  if (!read || read->size() != 1) return {};
  const auto* job = std::get_if<documents::JobDocument>(&read->front().body);
  return job == nullptr ? std::vector<ParamSpec>() : job->params;
}

bool IsGiven(const StartFlags& flags, const std::string& name) {
  return std::ranges::any_of(flags.params,
                             [&](const auto& word) { return word.starts_with(name + "="); });
}

std::string AllowedText(const ParamSpec& param) {
  if (!param.choices.empty()) return fmt::format(" ({})", fmt::join(param.choices, ", "));
  switch (param.type) {
    case ParamType::kInteger:
    case ParamType::kNumber:
    case ParamType::kBoolean:
      return fmt::format(" ({})", Name(param.type));
    case ParamType::kSecret:
      return " (name of a secret)";
    case ParamType::kString:
    case ParamType::kChoice:
      return {};
  }
  return {};
}

std::optional<std::string> AskOnce(const ParamSpec& param, const std::vector<std::string>& above) {
  const std::string question = fmt::format("{}{}: ", param.name, AllowedText(param));
  if (param.type != ParamType::kSecret) return Ask(question, above);
  for (const auto& line : above) Write(stderr, OwnLine(line));
  auto name = AskSecret(question);
  if (name && !name->empty() && !name->starts_with(kSecretPrefix)) name->insert(0, kSecretPrefix);
  return name;
}

// Nothing when the person gave up.
std::optional<std::string> ValueOf(const ParamSpec& param) {
  std::vector<std::string> above;
  if (!param.description.empty()) above.push_back(param.description);
  while (true) {
    const auto typed = AskOnce(param, above);
    if (!typed) return std::nullopt;
    const std::string value(Trim(*typed));
    if (value.empty()) {
      above = {fmt::format("'{}' needs a value; Ctrl-C ends this", param.name)};
      continue;
    }
    const auto good = CheckParam(param, value);
    if (good) return value;
    above = {good.error().message};
  }
}

}  // namespace

Result<bool> AskParams(const Context& context, ApiClient& api, StartFlags& flags) {
  if (flags.yes || !context.CanAsk()) return true;
  const auto document =
      Persist(context, kPatience, [&] { return api.Get("/documents/job/" + Segment(flags.name)); });
  if (!document) return Fail(document.error());
  for (const auto& param : DeclaredBy(*document)) {
    if (!param.required || param.fallback || IsGiven(flags, param.name)) continue;
    const auto value = ValueOf(param);
    if (!value) return false;
    flags.typed.emplace_back(param.name, *value);
  }
  return true;
}

}  // namespace muster::cli
