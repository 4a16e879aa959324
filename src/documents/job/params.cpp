#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "documents/job/builder.hpp"
#include "documents/values.hpp"

namespace muster::documents {
namespace {

void CheckSpec(const Context& context, const Node& map, const ParamSpec& param) {
  const auto at = [&](std::string_view key) { return map.FindKey(key)->at; };
  if (map.Find("pattern") != nullptr &&
      (param.type == ParamType::kBoolean || param.type == ParamType::kSecret ||
       param.type == ParamType::kChoice))
    context.problems.Add(at("pattern"), "'pattern' says nothing for type {}", Name(param.type));
  if (map.Find("choices") != nullptr && param.type != ParamType::kChoice)
    context.problems.Add(at("choices"), "'choices' is for type choice, and this is type {}",
                         Name(param.type));
  if (map.Find("choices") == nullptr && param.type == ParamType::kChoice)
    context.problems.Add(map.at, "parameter '{}' of type choice needs 'choices'", param.name);
  if (!param.fallback) return;
  if (param.required)
    context.problems.Add(at("default"), "parameter '{}' is required, so its default is never used",
                         param.name);
  if (const auto good = CheckParam(param, *param.fallback); !good)
    context.problems.Add(map.Find("default")->at, "default: {}", good.error().message);
}

ParamSpec BuildParam(const std::string& name, const Node& map) {
  ParamSpec param{.name = name};
  param.type = ParamTypeOf(TextOf(map, "type", "string")).value_or(ParamType::kString);
  param.required = FlagOf(map, "required", false);
  param.pattern = TextOf(map, "pattern");
  param.choices = TextsOf(map.Find("choices"));
  param.description = TextOf(map, "description");
  if (const Node* fallback = map.Find("default"); fallback != nullptr && fallback->IsText())
    param.fallback = fallback->text;
  return param;
}

bool MayBeCarried(const ParamSpec& param, const TriggerSpec& trigger) {
  return trigger.carry.contains(param.name) && !trigger.params.contains(param.name) &&
         param.type != ParamType::kSecret && !param.required;
}

// What the values have together, as long as nothing is carried.
std::size_t OwnBytes(const JobDocument& job, const TriggerSpec& trigger) {
  std::size_t bytes = 0;
  for (const auto& param : job.params) {
    const auto given = trigger.params.find(param.name);
    bytes += given != trigger.params.end() ? given->second.size()
             : param.fallback              ? param.fallback->size()
                                           : 0;
  }
  return bytes;
}

}  // namespace

std::string ParamVariable(std::string_view name) {
  std::string variable = "MUSTER_PARAM_";
  for (const char c : name)
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

std::vector<ParamSpec> BuildParams(const Context& context, const Node* params) {
  std::vector<ParamSpec> specs;
  if (params == nullptr || !params->IsMap()) return specs;
  std::map<std::string, std::string> variables;
  std::size_t pattern_bytes = 0;
  if (params->keys.size() > kMaxParams)
    context.problems.Add(params->keys[kMaxParams].at, "a job has {} parameters at most",
                         kMaxParams);
  for (std::size_t i = 0; i < std::min(params->keys.size(), kMaxParams); ++i) {
    const Node& key = params->keys[i];
    if (params->FindKey(key.text) != &key) continue;
    specs.push_back(BuildParam(key.text, params->items[i]));
    // A pattern that is none, or one too many, was told.
    pattern_bytes += specs.back().pattern.size();
    if (pattern_bytes > kMaxPatternsBytes || !CheckPattern(specs.back().pattern))
      specs.back().pattern.clear();
    if (params->items[i].IsMap()) CheckSpec(context, params->items[i], specs.back());
    const auto [other, fresh] = variables.emplace(ParamVariable(key.text), key.text);
    if (!fresh)
      context.problems.Add(key.at, "parameters '{}' and '{}' would both be ${}", other->second,
                           key.text, other->first);
  }
  return specs;
}

Result<std::vector<Param>> ResolveParams(
    const JobDocument& job, const std::vector<std::pair<std::string, std::string>>& given) {
  std::vector<std::string> problems;
  std::map<std::string_view, const std::string*> values;
  std::vector<std::string_view> known;
  for (const auto& spec : job.params) known.push_back(spec.name);
  for (const auto& [name, value] : given) {
    if (problems.size() == kMaxProblems) break;
    if (std::ranges::find(known, name) == known.end())
      problems.push_back(fmt::format("job '{}' has no parameter '{}'{}", job.name, Shortened(name),
                                     Suggestion(name, known)));
    else if (!values.emplace(name, &value).second)
      problems.push_back(fmt::format("parameter '{}' is given twice", name));
  }
  std::vector<Param> params;
  for (const auto& spec : job.params) {
    const auto found = values.find(spec.name);
    const std::string* value = found != values.end() ? found->second
                               : spec.fallback       ? &*spec.fallback
                                                     : nullptr;
    if (value == nullptr) {
      if (spec.required)
        problems.push_back(fmt::format("job '{}' needs parameter '{}'; say -p {}=…", job.name,
                                       spec.name, spec.name));
      continue;
    }
    const bool secret = spec.type == ParamType::kSecret;
    if (const auto good = CheckParam(spec, *value); !good)
      problems.push_back(good.error().message);
    else
      params.push_back({spec.name, secret ? value->substr(7) : *value, secret});
  }
  std::size_t bytes = 0;
  for (const auto& param : params) bytes += param.value.size();
  if (bytes > kMaxParamsBytes)
    problems.push_back(fmt::format("the parameters of job '{}' have {} in all, and may have {}",
                                   job.name, FormatSize(bytes), FormatSize(kMaxParamsBytes)));
  if (!problems.empty()) return Fail(ErrorCode::kInvalid, "{}", fmt::join(problems, "\n"));
  return params;
}

SlotParams SlotParamsOf(const JobDocument& job, const TriggerSpec& trigger,
                        const std::map<std::string, std::string>& data) {
  SlotParams slot{.given = {trigger.params.begin(), trigger.params.end()}, .refused = {}};
  std::size_t bytes = OwnBytes(job, trigger);
  for (const auto& param : job.params) {
    const auto carried = data.find(param.name);
    if (carried == data.end() || !MayBeCarried(param, trigger)) continue;
    const std::size_t instead =
        bytes - (param.fallback ? param.fallback->size() : 0) + carried->second.size();
    if (instead > kMaxParamsBytes || !CheckParam(param, carried->second)) {
      slot.refused.push_back(param.name);
      continue;
    }
    bytes = instead;
    slot.given.emplace_back(*carried);
  }
  return slot;
}

}  // namespace muster::documents
