#include "server/planning/apply_check.hpp"

#include <algorithm>
#include <sstream>

#include "base/text.hpp"
#include "cron/zone.hpp"
#include "domain/nesting.hpp"
#include "domain/target_lexer.hpp"
#include "domain/template.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/nesting.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kJobsPage = 200;

bool SaysNothing(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

std::size_t FindWord(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordPart(line[at - 1]);
    const auto end = at + word.size();
    if (begins && (end >= line.size() || !IsWordPart(line[end]))) return at;
  }
  return std::string_view::npos;
}

// Where a name that the document refers to stands in it, after the key that names it; else where
// the document begins.
documents::Position PlaceOf(const documents::Document& document, std::string_view key,
                            std::string_view word) {
  std::istringstream text(document.text);
  std::uint32_t number = document.position.line;
  bool begun = false;
  bool after_key = false;
  for (std::string line; std::getline(text, line);) {
    if (!begun && SaysNothing(line)) continue;
    if (std::exchange(begun, true)) ++number;
    const auto key_at = FindWord(line, key);
    after_key = after_key || key_at != std::string_view::npos;
    if (!after_key) continue;
    const auto from = key_at == std::string_view::npos ? 0 : key_at + key.size();
    if (const auto at = FindWord(std::string_view(line).substr(from), word);
        at != std::string_view::npos)
      return {number, static_cast<std::uint32_t>(from + at + 1)};
  }
  return document.position;
}

// Groups that a group is made of. Their words tell, so no expression is built for it.
std::vector<std::string> GroupsIn(const documents::GroupDocument& group) {
  std::vector<std::string> names;
  const auto tokens = LexTargets(group.targets);
  if (!tokens) return names;
  for (const auto& token : *tokens)
    if (token.kind == TargetToken::Kind::kWord && token.text.starts_with('@'))
      names.push_back(token.text.substr(1));
  return names;
}

class Checker {
 public:
  Checker(Store& store, const std::vector<documents::Document>& puts,
          const std::set<DocumentKey>& drops)
      : store_(store), puts_(puts), drops_(drops), book_(store, JobBook::Reads::kWithoutCommands) {
    for (const auto& [kind, name] : drops)
      if (kind == "job") book_.Set(name, std::nullopt);
    for (const auto& document : puts) {
      there_.emplace(documents::Name(documents::KindOf(document)), documents::NameOf(document));
      if (const auto* job = std::get_if<documents::JobDocument>(&document.body))
        book_.Set(job->name, *job);
      if (const auto* group = std::get_if<documents::GroupDocument>(&document.body))
        groups_[group->name] = GroupsIn(*group);
    }
  }

  Result<std::vector<documents::Problem>> Check() && {
    for (const auto& document : puts_)
      if (auto checked = CheckOne(document); !checked) return Fail(checked.error());
    if (auto checked = CheckJobNesting(); !checked) return Fail(checked.error());
    if (auto checked = CheckGroupNesting(); !checked) return Fail(checked.error());
    const bool needed = std::ranges::any_of(drops_, [](const DocumentKey& drop) {
      return drop.first == "job" || drop.first == "channel";
    });
    if (needed)
      if (auto checked = CheckKept(); !checked) return Fail(checked.error());
    return std::move(problems_);
  }

 private:
  template <typename... Args>
  void Complain(const documents::Document& document, std::string_view key, std::string_view word,
                fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back({.file = document.file,
                         .position = PlaceOf(document, key, word),
                         .sentence = fmt::format(text, std::forward<Args>(args)...)});
  }

  Result<> CheckOne(const documents::Document& document) {
    if (const auto* trigger = std::get_if<documents::TriggerDocument>(&document.body))
      return CheckTrigger(document, trigger->spec);
    const auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) return {};
    for (const JobAction* action : JobsIn(*job))
      if (auto checked = CheckChild(document, *action); !checked) return checked;
    for (const auto& channel : ChannelsIn(*job)) {
      const auto there = IsThere({"channel", channel});
      if (!there) return Fail(there.error());
      if (!*there)
        Complain(document, "notify", channel,
                 "there is no channel '{}'{}; apply it together with this job", channel,
                 NearName("channel", channel));
    }
    return {};
  }

  Result<> CheckTrigger(const documents::Document& document, const TriggerSpec& spec) {
    std::set<std::string> zones{spec.tz};
    for (const auto& blackout : spec.blackouts) zones.insert(blackout.tz);
    for (const auto& zone : zones)
      if (!IsZone(zone))
        Complain(document, "tz", zone, "there is no time zone '{}'; expected one as Europe/Berlin",
                 zone);
    if (!spec.channel.empty()) {
      const auto there = IsThere({"channel", spec.channel});
      if (!there) return Fail(there.error());
      if (!*there)
        Complain(document, "channel", spec.channel,
                 "there is no channel '{}'{}; apply it together with this trigger", spec.channel,
                 NearName("channel", spec.channel));
    }
    JobAction start;
    start.job = spec.job;
    for (const auto& [name, value] : spec.params) start.params[name] = value;
    if (auto checked = CheckCarry(document, spec); !checked) return checked;
    return CheckChild(document, start);
  }

  Result<> CheckCarry(const documents::Document& document, const TriggerSpec& spec) {
    const auto job = book_.Find(spec.job);
    if (!job) return Fail(job.error());
    if (*job == nullptr) return {};
    const auto& params = (*job)->document.params;
    for (const auto& name : spec.carry) {
      const auto param = std::ranges::find(params, name, &ParamSpec::name);
      if (param == params.end())
        Complain(document, "carry", name, "job '{}' has no parameter '{}'", spec.job, name);
      else if (param->type == ParamType::kSecret)
        Complain(document, "carry", name,
                 "parameter '{}' of job '{}' is a secret, and hosts do not choose secrets; give it "
                 "in 'params'",
                 name, spec.job);
    }
    return {};
  }

  Result<> CheckChild(const documents::Document& document, const JobAction& action) {
    const auto child = book_.Find(action.job);
    if (!child) return Fail(child.error());
    if (*child == nullptr) {
      Complain(document, "job", action.job,
               "there is no job '{}'{}; apply it together with this one", action.job,
               NearName("job", action.job));
      return {};
    }
    const auto& params = (*child)->document.params;
    for (const auto& [name, value] : action.params)
      if (std::ranges::find(params, name, &ParamSpec::name) == params.end())
        Complain(document, "params", name, "job '{}' has no parameter '{}'", action.job, name);
    for (const auto& param : params)
      if (param.required && !action.params.contains(param.name))
        Complain(document, "job", action.job, "job '{}' needs parameter '{}'; give it in 'params'",
                 action.job, param.name);
    return {};
  }

  // The documents of one kind, by their names in the order they were given.
  std::vector<std::string> NamesOf(documents::Kind kind) const {
    std::vector<std::string> names;
    for (const auto& document : puts_)
      if (documents::KindOf(document) == kind) names.push_back(documents::NameOf(document));
    return names;
  }

  const documents::Document& PutOf(documents::Kind kind, const std::string& name) const {
    return *std::ranges::find_if(puts_, [&](const auto& document) {
      return documents::KindOf(document) == kind && documents::NameOf(document) == name;
    });
  }

  // Each circle and each chain is said once, by the first of its jobs.
  Result<> CheckJobNesting() {
    const auto found =
        CheckNesting(NamesOf(documents::Kind::kJob), kDeepestJobs,
                     [this](const std::string& name) -> Result<std::vector<std::string>> {
                       const auto job = book_.Find(name);
                       if (!job) return Fail(job.error());
                       std::vector<std::string> names;
                       if (*job != nullptr)
                         for (const JobAction* action : JobsIn((*job)->document))
                           names.push_back(action->job);
                       return names;
                     });
    if (!found) return Fail(found.error());
    for (const auto& [kind, way] : *found) {
      const auto& document = PutOf(documents::Kind::kJob, way.front());
      const std::string& next = way.size() > 1 ? way[1] : way.front();
      if (kind == NestingProblem::Kind::kCircle)
        Complain(document, "job", next, "jobs start each other in a circle: {} -> {}", WayText(way),
                 way.front());
      else
        Complain(document, "job", next,
                 "jobs start jobs more than {} levels deep: {}; use fewer levels", kDeepestJobs,
                 WayText(way));
    }
    return {};
  }

  Result<> CheckGroupNesting() {
    const auto found = CheckNesting(NamesOf(documents::Kind::kGroup), kDeepestGroups,
                                    [this](const std::string& name) { return GroupsBelow(name); });
    if (!found) return Fail(found.error());
    for (const auto& [kind, way] : *found) {
      const auto& document = PutOf(documents::Kind::kGroup, way.front());
      const std::string& next = way.size() > 1 ? way[1] : way.front();
      if (kind == NestingProblem::Kind::kCircle)
        Complain(document, "targets", next, "groups are made of each other in a circle: {} -> @{}",
                 WayText(way, "@"), way.front());
      else
        Complain(document, "targets", next,
                 "groups are made of groups more than {} levels deep: {}; use fewer levels",
                 kDeepestGroups, WayText(way, "@"));
    }
    return {};
  }

  Result<std::vector<std::string>> GroupsBelow(const std::string& name) {
    if (const auto given = groups_.find(name); given != groups_.end()) return given->second;
    if (drops_.contains({"group", name})) return std::vector<std::string>{};
    const auto kept = store_.FindDocument("group", name, 0);
    if (!kept) return Fail(kept.error());
    if (!*kept) return std::vector<std::string>{};
    const auto document = ReadKept(**kept);
    if (!document) return std::vector<std::string>{};  // it names no hosts anyway
    return GroupsIn(std::get<documents::GroupDocument>(document->body));
  }

  // Each looks at many names, so a request gets a few of them.
  std::string NearName(const std::string& kind, const std::string& name) {
    constexpr std::size_t kMostHints = 20;
    return hints_++ < kMostHints ? DidYouMean(store_, kind, name) : std::string();
  }

  Result<bool> IsThere(const DocumentKey& key) {
    if (there_.contains(key)) return true;
    if (drops_.contains(key)) return false;
    if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
    const auto kept = store_.FindDocument(key.first, key.second, 0);
    if (!kept) return Fail(kept.error());
    return kept_[key] = kept->has_value();
  }

  bool IsZone(const std::string& name) {
    const auto known = zones_.find(name);
    if (known != zones_.end()) return known->second;
    return zones_[name] = cron::LoadZone(name).has_value();
  }

  // Jobs that stay must not lose what they need.
  Result<> CheckKept() {
    std::string after;
    while (true) {
      const auto page = store_.ListDocumentHeads("job", after, kJobsPage);
      if (!page) return Fail(page.error());
      for (const auto& head : *page)
        if (auto checked = CheckKeptOne(head.name); !checked) return checked;
      if (page->size() < kJobsPage) return {};
      after = page->back().name;
    }
  }

  Result<> CheckKeptOne(const std::string& name) {
    const DocumentKey key{"job", name};
    if (there_.contains(key) || drops_.contains(key)) return {};
    const auto kept = store_.FindDocument("job", name, 0);
    if (!kept) return Fail(kept.error());
    if (!*kept) return {};  // deleted meanwhile
    const auto document = ReadKept(**kept);
    if (!document) return {};  // it cannot be started anyway
    const auto& job = std::get<documents::JobDocument>(document->body);
    for (const JobAction* action : JobsIn(job))
      if (drops_.contains({"job", action->job}) && !there_.contains({"job", action->job}))
        Complain(*document, "job", action->job, "job '{}' starts job '{}', which would be deleted",
                 name, action->job);
    for (const auto& channel : ChannelsIn(job))
      if (drops_.contains({"channel", channel}) && !there_.contains({"channel", channel}))
        Complain(*document, "notify", channel,
                 "job '{}' tells channel '{}', which would be deleted", name, channel);
    return {};
  }

  Store& store_;
  const std::vector<documents::Document>& puts_;
  const std::set<DocumentKey>& drops_;
  JobBook book_;
  std::set<DocumentKey> there_;
  // Looked up once, however many documents refer to them.
  std::map<DocumentKey, bool> kept_;
  std::map<std::string, bool> zones_;
  std::map<std::string, std::vector<std::string>> groups_;  // those that are given
  std::vector<documents::Problem> problems_;
  std::size_t hints_ = 0;
};

}  // namespace

Result<std::vector<documents::Problem>> CheckReferences(
    Store& store, const std::vector<documents::Document>& puts,
    const std::set<DocumentKey>& drops) {
  return Checker(store, puts, drops).Check();
}

}  // namespace muster::server
