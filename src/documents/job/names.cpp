#include <algorithm>
#include <functional>
#include <unordered_map>

#include "documents/job/builder.hpp"
#include "documents/shape.hpp"

namespace muster::documents {
namespace {

using Index = std::uint32_t;
using Path = std::vector<std::string>;

// Looks at one name at a time; a sentence when it cannot be known where it stands.
class Names {
 public:
  Names(const JobDraft& draft, const Problems& problems)
      : draft_(draft), problems_(problems), stages_(draft.job.spec.stages) {
    for (const auto& param : draft.job.params) params_.try_emplace(param.name, &param);
    for (Index i = 0; i < stages_.size(); ++i) by_name_.try_emplace(stages_[i].name, i);
    for (Index i = 0; i < draft.nodes.size(); ++i) by_node_.try_emplace(draft.nodes[i], i);
  }

  // `at`: where it would be told.
  std::optional<std::string> Look(const TemplateUse& use, const TemplateName& name, Position at) {
    at_ = at;
    const Path& path = name.path;
    if (path[0] == "params") return Param(use, path);
    if (path[0] == "run") return OneOf(path, {"id", "job", "by", "pass"});
    if (path[0] == "targets") return OneOf(path, {"count", "expression"});
    if (path[0] == "host") return Host(use, path);
    if (path[0] == "trigger") return Trigger(path);
    if (path[0] == "stages") return Stage(use, name);
    return fmt::format("there is no '{}'{}", WrittenName(path),
                       Suggest(path[0], {"params", "run", "targets", "host", "stages", "trigger"}));
  }

 private:
  using Words = std::vector<std::string_view>;

  std::string Suggest(std::string_view word, const Words& known) const {
    return problems_.Suggest(at_, word, [&] { return known; });
  }

  std::optional<std::string> OneOf(const Path& path, const Words& known) const {
    if (path.size() == 1) return fmt::format("'{}' needs a part: {}", path[0], Either(known));
    if (std::ranges::find(known, path[1]) == known.end())
      return fmt::format("there is no '{}'{}", WrittenName(path), Suggest(path[1], known));
    return path.size() == 2 ? std::nullopt : TooLong(path);
  }
  static std::optional<std::string> TooLong(const Path& path) {
    return fmt::format("'{}' has no parts", WrittenName(std::span(path).first(path.size() - 1)));
  }

  std::optional<std::string> Trigger(const Path& path) const {
    if (path.size() < 2 || path[1] != "data") return OneOf(path, {"name", "slot", "data"});
    if (path.size() == 2) return "'trigger.data' needs a part: trigger.data.NAME";
    return path.size() == 3 ? std::nullopt : TooLong(path);
  }

  std::optional<std::string> Param(const TemplateUse& use, const Path& path) const {
    if (path.size() == 1) return fmt::format("'params' needs a part: params.NAME");
    const auto found = params_.find(path[1]);
    if (found == params_.end())
      return fmt::format("there is no parameter '{}'{}", path[1],
                         problems_.Suggest(at_, path[1], [&] { return ParamNames(); }));
    if (path.size() > 2) return TooLong(path);
    if (found->second->type == ParamType::kSecret && !HandsOn(use))
      return fmt::format("'{}' is a secret and is never put into a text; a script finds it in ${}",
                         path[1], ParamVariable(path[1]));
    return std::nullopt;
  }

  Words ParamNames() const {
    Words names;
    for (const auto& param : draft_.job.params) names.push_back(param.name);
    return names;
  }

  // A secret may go on to a child run, by its name and alone.
  static bool HandsOn(const TemplateUse& use) {
    if (use.stage == nullptr || use.names.size() != 1) return false;
    const Node* job = use.stage->Find("job");
    const Node* params = job != nullptr ? job->Find("params") : nullptr;
    if (params == nullptr || !params->IsMap()) return false;
    const std::less<> before;
    const Node* first = params->items.data();
    const bool there = !before(use.node, first) && before(use.node, first + params->items.size());
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
    const auto found = by_name_.find(path[1]);
    const auto self = IndexOf(use.stage);
    if (found == by_name_.end())
      return fmt::format("there is no stage '{}'{}", path[1],
                         problems_.Suggest(at_, path[1], [&] { return Earlier(self); }));
    if (const auto wrong = Before(found->second, self, name)) return wrong;
    return Part(use, path, stages_[found->second]);
  }

  std::optional<Index> IndexOf(const Node* map) const {
    const auto found = by_node_.find(map);
    if (found == by_node_.end()) return std::nullopt;
    return found->second;
  }

  Words Earlier(std::optional<Index> self) const {
    Words names;
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

  std::optional<std::string> Part(const TemplateUse& use, const Path& path,
                                  const StageSpec& stage) const {
    const Words known = {"outputs", "all", "state", "status", "succeeded", "failed"};
    if (path.size() == 2)
      return fmt::format("'{}' needs a part: {}", WrittenName(path), Either(known));
    if (std::ranges::find(known, path[2]) == known.end())
      return fmt::format("there is no '{}'{}", WrittenName(path), Suggest(path[2], known));
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
  const Problems& problems_;
  const std::vector<StageSpec>& stages_;
  std::unordered_map<std::string_view, const ParamSpec*> params_;
  std::unordered_map<std::string_view, Index> by_name_;  // the first of each name
  std::unordered_map<const Node*, Index> by_node_;
  Position at_;
};

}  // namespace

void CheckNames(const Context& context, const std::vector<TemplateUse>& uses,
                const JobDraft& draft) {
  Names names(draft, context.problems);
  for (const auto& use : uses) {
    TextPlaces places(context.piece, *use.node);
    for (const auto& name : use.names) {
      const Position at = places.At(name.at);
      if (const auto sentence = names.Look(use, name, at))
        context.problems.Add(at, "{}", *sentence);
    }
  }
}

}  // namespace muster::documents
