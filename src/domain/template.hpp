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
//   ${{ host.labels.zone in ('sh1', 'sh2') }}
//   ${{ host.labels.zone | default: 'sh1' }}   the only way to allow for an unknown one
//   ${{ params.motd | json }}                  a JSON string with its quotes; also | upper, | lower
//   ${{ host.labels['rack.io/row'] }}          a part of a name with other characters
//
// Names: params.NAME; run.{id,job,by,pass}; targets.{count,expression}; host.{name,id},
// host.labels.NAME (short host.NAME), host.facts.NAME;
// stages.STAGE.{state,status,succeeded,failed}, stages.STAGE.outputs.NAME (of the same host, or of
// the stage when it has no hosts), stages.STAGE.all.NAME (collected: one line "host=value" for each
// host, in order of the hosts).
//
// Every value is a text, and == compares texts. A text in quotes is closed by the quote that opened
// it, which is written twice to stand for itself; a number is the text of its digits. From tightest
// to loosest: a filter, `== != in` (and `not in`), `not`, `and`, `or`. `and` and `or` look at their
// right side only when it matters; what a comparison or `and or not` gives is "true" or "false".
// `default` comes first behind a name and takes a literal or another name. ${{ '${{' }} writes a
// ${{ as it is.
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

  friend bool operator==(const TemplateName&, const TemplateName&) = default;
};

// What Render and Holds make at most, in bytes: a scope's value may be repeated often.
constexpr std::size_t kMaxTemplateOutput = 1 << 20;
// What one Render or Holds reads of its scope at most, in bytes: most of it may be compared and not
// come out.
constexpr std::size_t kMaxTemplateRead = 4 << 20;
// Names and literals in the expressions of one text, at most.
constexpr std::size_t kMaxTemplateTerms = 1'000;
// Parentheses and `not` inside each other, or filters behind each other, at most.
constexpr std::size_t kMaxTemplateDepth = 64;

bool HasExpressions(std::string_view text) noexcept;  // holds "${{"

// The names a text uses, in its order. kInvalid with a sentence and the byte (from 0) where it went
// wrong: "template, byte 12: expected …".
Result<std::vector<TemplateName>> NamesIn(std::string_view text);
// The same of a condition, see Holds.
Result<std::vector<TemplateName>> NamesInCondition(std::string_view condition);

// Whether its value may differ from host to host: it names host.… or stages.….outputs.….
Result<bool> NamesHost(std::string_view text);

// "host.labels.zone", as it would be written.
std::string WrittenName(std::span<const std::string> path);

// The text with every expression replaced by its value. kInvalid as NamesIn, or the result is
// longer than kMaxTemplateOutput, or it reads more than kMaxTemplateRead; what the scope's Find
// failed with, for a name without a default.
Result<std::string> Render(std::string_view text, const TemplateScope& scope);

// A condition: one expression, with or without ${{ }} around it. "" holds. Values count as true
// unless they are empty, "false" or "0".
Result<bool> Holds(std::string_view condition, const TemplateScope& scope);

}  // namespace muster
