#include "server/api/apply_check.hpp"

#include <algorithm>
#include <sstream>

#include "base/text.hpp"
#include "cron/zone.hpp"
#include "domain/template.hpp"
#include "server/api/job_book.hpp"

namespace muster::server::api {
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

class Checker {
 public:
  Checker(Store& store, const std::vector<documents::Document>& puts,
          const std::set<DocumentKey>& drops)
      : store_(store), puts_(puts), drops_(drops), book_(store) {
    for (const auto& [kind, name] : drops)
      if (kind == "job") book_.Set(name, std::nullopt);
    for (const auto& document : puts) {
      there_.emplace(documents::Name(documents::KindOf(document)), documents::NameOf(document));
      if (const auto* job = std::get_if<documents::JobDocument>(&document.body))
        book_.Set(job->name, *job);
    }
  }

  Result<std::vector<documents::Problem>> Check() && {
    for (const auto& document : puts_)
      if (auto checked = CheckOne(document); !checked) return Fail(checked.error());
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
                 "there is no channel '{}'; apply it together with this job", channel);
    }
    return CheckCircle(document, *job);
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
                 "there is no channel '{}'; apply it together with this trigger", spec.channel);
    }
    JobAction start;
    start.job = spec.job;
    for (const auto& [name, value] : spec.params) start.params[name] = value;
    return CheckChild(document, start);
  }

  Result<> CheckChild(const documents::Document& document, const JobAction& action) {
    const auto child = book_.Find(action.job);
    if (!child) return Fail(child.error());
    if (*child == nullptr) {
      Complain(document, "job", action.job, "there is no job '{}'; apply it together with this one",
               action.job);
      return {};
    }
    const auto& params = (*child)->document.params;
    for (const auto& [name, value] : action.params)
      if (std::ranges::find(params, name, &documents::ParamSpec::name) == params.end())
        Complain(document, "params", name, "job '{}' has no parameter '{}'", action.job, name);
    for (const auto& param : params)
      if (param.required && !action.params.contains(param.name))
        Complain(document, "job", action.job, "job '{}' needs parameter '{}'; give it in 'params'",
                 action.job, param.name);
    return {};
  }

  // Each circle is said once, by the first of its jobs.
  Result<> CheckCircle(const documents::Document& document, const documents::JobDocument& job) {
    std::vector<std::string> way{job.name};
    std::set<std::string> seen;
    auto found = LeadsTo(job, job.name, way, seen);
    if (!found) return Fail(found.error());
    if (!*found || !circles_.insert(std::set(way.begin(), way.end())).second) return {};
    Complain(document, "job", way.size() > 1 ? way[1] : job.name,
             "jobs start each other in a circle: {} -> {}", fmt::join(way, " -> "), job.name);
    return {};
  }

  Result<bool> LeadsTo(const documents::JobDocument& from, const std::string& name,
                       std::vector<std::string>& way, std::set<std::string>& seen) {
    for (const JobAction* action : JobsIn(from)) {
      if (action->job == name) return true;
      if (!seen.insert(action->job).second) continue;
      const auto next = book_.Find(action->job);
      if (!next) return Fail(next.error());
      if (*next == nullptr) continue;
      way.push_back(action->job);
      auto leads = LeadsTo((*next)->document, name, way, seen);
      if (!leads || *leads) return leads;
      way.pop_back();
    }
    return false;
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
      const auto page = store_.ListDocuments("job", after, kJobsPage);
      if (!page) return Fail(page.error());
      for (const auto& kept : *page)
        if (auto checked = CheckKeptOne(kept); !checked) return checked;
      if (page->size() < kJobsPage) return {};
      after = page->back().name;
    }
  }

  Result<> CheckKeptOne(const Document& kept) {
    const DocumentKey key{"job", kept.name};
    if (there_.contains(key) || drops_.contains(key)) return {};
    const auto document = ReadKept(kept);
    if (!document) return {};  // it cannot be started anyway
    const auto& job = std::get<documents::JobDocument>(document->body);
    for (const JobAction* action : JobsIn(job))
      if (drops_.contains({"job", action->job}) && !there_.contains({"job", action->job}))
        Complain(*document, "job", action->job, "job '{}' starts job '{}', which would be deleted",
                 kept.name, action->job);
    for (const auto& channel : ChannelsIn(job))
      if (drops_.contains({"channel", channel}) && !there_.contains({"channel", channel}))
        Complain(*document, "notify", channel,
                 "job '{}' tells channel '{}', which would be deleted", kept.name, channel);
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
  std::set<std::set<std::string>> circles_;
  std::vector<documents::Problem> problems_;
};

}  // namespace

Result<std::vector<documents::Problem>> CheckReferences(
    Store& store, const std::vector<documents::Document>& puts,
    const std::set<DocumentKey>& drops) {
  return Checker(store, puts, drops).Check();
}

}  // namespace muster::server::api
