#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"
#include "imports/crontab.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

// A document that stood behind a line `---` is kept with blanks in its place. They would become
// more each time.
std::string_view WithoutBlankStart(std::string_view text) {
  for (auto end = text.find('\n');
       end != std::string_view::npos && Trim(text.substr(0, end)).empty(); end = text.find('\n'))
    text.remove_prefix(end + 1);
  return text;
}

std::optional<documents::TriggerDocument> TriggerIn(std::string_view text) {
  const documents::Source source{"trigger", std::string(text)};
  auto read = documents::ReadAll({&source, 1}, [](const auto&, const auto&) -> Result<std::string> {
    return Fail(ErrorCode::kInvalid, "a trigger has no scripts");
  });
  if (!read || read->size() != 1) return std::nullopt;
  auto* trigger = std::get_if<documents::TriggerDocument>(&read->front().body);
  if (trigger == nullptr) return std::nullopt;
  return std::move(*trigger);
}

std::optional<std::set<std::string>> NamesIn(const std::string& targets) {
  const auto parsed = TargetExpression::Parse(targets);
  return parsed ? parsed->OnlyNames() : std::nullopt;
}

// An expression for what either of two means.
std::string EitherTargets(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  if (b.empty() || a == b || a.ends_with("," + b)) return a;
  auto names = NamesIn(a);
  const auto more = NamesIn(b);
  if (!names || !more) return a + "," + b;
  if (std::ranges::includes(*names, *more)) return a;
  names->insert(more->begin(), more->end());
  const std::vector<std::string> all(names->begin(), names->end());
  return FoldHostNames(all);
}

// The text with its line `targets` set; one that has none gets it at the end.
std::string SetTargets(std::string_view text, const std::string& targets) {
  const auto line = fmt::format("targets: {}", YamlQuoted(targets));
  std::string out;
  bool set = false;
  for (const auto old : Split(text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0)), '\n')) {
    const bool here = old.starts_with("targets:");
    set = set || here;
    out += here ? line : std::string(old);
    out += '\n';
  }
  return set ? out : out + line + '\n';
}

// Nothing when the text is not laid out so that one line can be set.
std::optional<std::string> SetTargetsOf(std::string_view text, documents::TriggerDocument trigger,
                                        const std::string& targets) {
  if (trigger.spec.targets == targets) return std::string(text);
  auto changed = SetTargets(text, targets);
  const auto read = TriggerIn(changed);
  trigger.spec.targets = targets;
  if (!read || read->spec != trigger.spec || read->description != trigger.description ||
      read->paused != trigger.paused)
    return std::nullopt;
  return changed;
}

}  // namespace

std::optional<std::string> JoinTargets(std::string_view kept, std::string_view imported) {
  kept = WithoutBlankStart(kept);
  const auto old = TriggerIn(kept);
  auto now = TriggerIn(imported);
  if (!old || !now) return std::nullopt;
  const auto targets = EitherTargets(old->spec.targets, now->spec.targets);
  now->spec.targets = old->spec.targets;
  if (now->spec != old->spec) return std::nullopt;
  return SetTargetsOf(kept, *old, targets);
}

std::string ReplaceButTargets(std::string_view kept, std::string_view imported) {
  const auto old = TriggerIn(kept);
  const auto now = TriggerIn(imported);
  if (!old || !now) return std::string(imported);
  return SetTargetsOf(imported, *now, EitherTargets(old->spec.targets, now->spec.targets))
      .value_or(std::string(imported));
}

}  // namespace muster::imports
