#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

// The small language inside ${{ … }}: total (it always ends), without side effects, evaluated into
// data and never into code.
//
//   ${{ params.version }}                      a name; unknown is an error, never an empty text
//   ${{ params.version == '6.1' and not run.by == "cron" }}
//   ${{ host.labels.zone | default: 'sh1' }}   the only way to allow for an unknown one
//
// Names: params.NAME; run.{id,job,by,pass}; targets.{count,expression}; host.{name,id},
// host.labels.NAME (short host.NAME), host.facts.NAME;
// stages.STAGE.{state,status,succeeded,failed}, stages.STAGE.outputs.NAME (of the same host, or of
// the stage when it has no hosts), stages.STAGE.all.NAME (collected: one line "host=value" for each
// host, in order of the hosts).
namespace muster {

// What names stand for at one place. Find fails with kNotFound and a sentence for people.
class TemplateScope {
 public:
  virtual ~TemplateScope() = default;
  virtual Result<std::string> Find(std::span<const std::string> path) const = 0;
};

// A name as it was used, and where in the text (byte).
struct TemplateName {
  std::vector<std::string> path;
  std::size_t at = 0;
  bool has_default = false;
};

bool HasExpressions(std::string_view text) noexcept;  // holds "${{"

// The names a text uses. kInvalid with a sentence and the byte where it went wrong.
Result<std::vector<TemplateName>> NamesIn(std::string_view text);

// Whether its value may differ from host to host: it names host.… or stages.….outputs.….
Result<bool> NamesHost(std::string_view text);

// The text with every expression replaced by its value.
Result<std::string> Render(std::string_view text, const TemplateScope& scope);

// A condition: one expression, with or without ${{ }} around it. "" holds. Values count as true
// unless they are empty, "false" or "0".
Result<bool> Holds(std::string_view condition, const TemplateScope& scope);

}  // namespace muster
