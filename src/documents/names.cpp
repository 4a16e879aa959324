#include <algorithm>

#include "documents/job_builder.hpp"
#include "documents/shape.hpp"

namespace muster::documents {
namespace {

using Index = std::uint32_t;
using Path = std::vector<std::string>;

// Looks at one name at a time; a sentence when it cannot be known where it stands.
class Names {
 public:
  explicit Names(const JobDraft& draft) : draft_(draft), stages_(draft.job.spec.stages) {}

  std::optional<std::string> Look(const TemplateUse& use, const TemplateName& name) const {
    const Path& path = name.path;
    if (path[0] == "params") return Param(use, path);
    if (path[0] == "run") return OneOf(path, {"id", "job", "by", "pass"});
    if (path[0] == "targets") return OneOf(path, {"count", "expression"});
    if (path[0] == "host") return Host(use, path);
    if (path[0] == "trigger") return Trigger(path);
    if (path[0] == "stages") return Stage(use, name);
    return fmt::format(
        "there is no '{}'{}", WrittenName(path),
        Suggestion(path[0], {"params", "run", "targets", "host", "stages", "trigger"}));
  }

 private:
  static std::optional<std::string> OneOf(const Path& path,
                                          const std::vector<std::string_view>& known) {
    if (path.size() == 1) return fmt::format("'{}' needs a part: {}", path[0], Either(known));
    if (std::ranges::find(known, path[1]) == known.end())
      return fmt::format("there is no '{}'{}", WrittenName(path), Suggestion(path[1], known));
    return path.size() == 2 ? std::nullopt : TooLong(path);
  }
  static std::optional<std::string> TooLong(const Path& path) {
    return fmt::format("'{}' has no parts", WrittenName(std::span(path).first(path.size() - 1)));
  }

  static std::optional<std::string> Trigger(const Path& path) {
    if (path.size() < 2 || path[1] != "data") return OneOf(path, {"name", "slot", "data"});
    if (path.size() == 2) return "'trigger.data' needs a part: trigger.data.NAME";
    return path.size() == 3 ? std::nullopt : TooLong(path);
  }

  std::optional<std::string> Param(const TemplateUse& use, const Path& path) const {
    std::vector<std::string_view> known;
    for (const auto& param : draft_.job.params) known.push_back(param.name);
    if (path.size() == 1) return fmt::format("'params' needs a part: params.NAME");
    const auto found = std::ranges::find(draft_.job.params, path[1], &ParamSpec::name);
    if (found == draft_.job.params.end())
      return fmt::format("there is no parameter '{}'{}", path[1], Suggestion(path[1], known));
    if (path.size() > 2) return TooLong(path);
    if (found->type == ParamType::kSecret && !HandsOn(use))
      return fmt::format("'{}' is a secret and is never put into a text; a script finds it in ${}",
                         path[1], ParamVariable(path[1]));
    return std::nullopt;
  }

  // A secret may go on to a child run, by its name and alone.
  bool HandsOn(const TemplateUse& use) const {
    if (use.stage == nullptr || use.names.size() != 1) return false;
    const Node* job = use.stage->Find("job");
    const Node* params = job != nullptr ? job->Find("params") : nullptr;
    if (params == nullptr || !params->IsMap()) return false;
    const bool there =
        std::ranges::any_of(params->items, [&](const Node& item) { return &item == use.node; });
    const std::string& text = use.node->text;
    return there && text.starts_with("${{") && text.ends_with("}}") &&
           text.find_first_of("|=!('\"") == std::string::npos;
  }

  static std::optional<std::string> Host(const TemplateUse& use, const Path& path) {
    if (use.place != Place::kHost && use.place != Place::kKey)
      return fmt::format("'{}' is not known here: this is evaluated once, not for each host",
                         WrittenName(path));
    if (path.size() == 1)
      return "'host' needs a part: host.name, host.id, host.labels.NAME or "
             "host.facts.NAME";
    if (path[1] == "labels" || path[1] == "facts") {
      if (path.size() == 2)
        return fmt::format("'{}' needs a part: {}.NAME", WrittenName(path), WrittenName(path));
      return path.size() == 3 ? std::nullopt : TooLong(path);
    }
    return path.size() == 2 ? std::nullopt : TooLong(path);
  }

  std::optional<std::string> Stage(const TemplateUse& use, const TemplateName& name) const {
    const Path& path = name.path;
    if (use.place == Place::kStart || use.place == Place::kKey)
      return fmt::format("'{}' is not known here: this is evaluated before the first stage",
                         WrittenName(path));
    if (path.size() == 1) return "'stages' needs a part: stages.NAME.outputs.NAME";
    const auto found = std::ranges::find(stages_, path[1], &StageSpec::name);
    const auto self = IndexOf(use.stage);
    if (found == stages_.end())
      return fmt::format("there is no stage '{}'{}", path[1], Suggestion(path[1], Earlier(self)));
    const auto index = static_cast<Index>(found - stages_.begin());
    if (const auto wrong = Before(index, self, name)) return wrong;
    return Part(use, path, *found);
  }

  std::optional<Index> IndexOf(const Node* map) const {
    const auto found = std::ranges::find(draft_.nodes, map);
    if (found == draft_.nodes.end()) return std::nullopt;
    return static_cast<Index>(found - draft_.nodes.begin());
  }

  std::vector<std::string_view> Earlier(std::optional<Index> self) const {
    std::vector<std::string_view> names;
    for (Index i = 0; i < self.value_or(0); ++i) names.push_back(stages_[i].name);
    return names;
  }

  // Later stages may have been visited too, when a `switch` went back: with a default they are let
  // through.
  std::optional<std::string> Before(Index index, std::optional<Index> self,
                                    const TemplateName& name) const {
    if (!self) return std::nullopt;
    if (stages_[*self].parent == index)
      return fmt::format("stage '{}' holds this one and has not ended yet", name.path[1]);
    if (index < *self || name.has_default) return std::nullopt;
    if (index == *self) return fmt::format("stage '{}' is this one", name.path[1]);
    return fmt::format("stage '{}' comes after this one", name.path[1]);
  }

  static std::optional<std::string> Part(const TemplateUse& use, const Path& path,
                                         const StageSpec& stage) {
    const std::vector<std::string_view> known = {"outputs", "all",       "state",
                                                 "status",  "succeeded", "failed"};
    if (path.size() == 2)
      return fmt::format("'{}' needs a part: {}", WrittenName(path), Either(known));
    if (std::ranges::find(known, path[2]) == known.end())
      return fmt::format("there is no '{}'{}", WrittenName(path), Suggestion(path[2], known));
    const bool collects = path[2] == "outputs" || path[2] == "all";
    if (!collects) return path.size() == 3 ? std::nullopt : TooLong(path);
    if (path.size() == 3)
      return fmt::format("'{}' needs a part: {}.NAME", WrittenName(path), WrittenName(path));
    if (path.size() > 4) return TooLong(path);
    if (path[2] == "outputs" && use.place != Place::kHost && WorksOnHosts(stage))
      return fmt::format(
          "outputs of stage '{}' differ from host to host and this is evaluated once; use "
          "stages.{}.all.{} for all of them",
          path[1], path[1], path[3]);
    return std::nullopt;
  }

  const JobDraft& draft_;
  const std::vector<StageSpec>& stages_;
};

}  // namespace

void CheckNames(const Context& context, const std::vector<TemplateUse>& uses,
                const JobDraft& draft) {
  const Names names(draft);
  for (const auto& use : uses) {
    for (const auto& name : use.names)
      if (const auto sentence = names.Look(use, name))
        context.problems.Add(Inside(context.piece, *use.node, name.at), "{}", *sentence);
  }
}

}  // namespace muster::documents
