#include "server/planning/job_book.hpp"

#include <algorithm>

#include "domain/nesting.hpp"
#include "domain/plan_bytes.hpp"
#include "domain/wrap_batched.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/nesting.hpp"
#include "server/planning/pushed_files.hpp"

namespace muster::server {
namespace {

// The defaults; what the stage that starts it says comes on top.
std::vector<Param> DefaultsOf(const documents::JobDocument& job) {
  std::vector<std::pair<std::string, std::string>> none;
  documents::JobDocument optional = job;
  for (auto& param : optional.params) param.required = false;
  return documents::ResolveParams(optional, none).value_or(std::vector<Param>{});
}

// About how much memory a job takes: its plan, and what only the document has.
std::size_t BytesOfJob(const documents::JobDocument& job) {
  std::size_t bytes = BytesOf(job.spec) + job.description.size();
  for (const auto& param : job.params) {
    bytes += sizeof param + param.name.size() + param.pattern.size() + param.description.size();
    if (param.fallback) bytes += param.fallback->size();
    for (const auto& choice : param.choices) bytes += sizeof choice + choice.size();
  }
  return bytes;
}

void DropCommands(RunSpec& spec) {
  for (auto& stage : spec.stages)
    if (WorksOnHosts(stage)) stage.action = std::make_shared<const Command>();
}

std::unexpected<Error> NestedTooDeep(std::span<const std::string> way) {
  return Fail(ErrorCode::kInvalid, "jobs start jobs more than {} levels deep: {}; use fewer levels",
              kDeepestJobs, WayText(way));
}

}  // namespace

Result<documents::Document> ReadKept(const Document& kept) {
  const std::string title = fmt::format("{} {}", kept.kind, kept.name);
  const documents::Source source{.file = title, .text = kept.text};
  auto read = documents::ReadAll(
      {&source, 1}, [&](const std::string&, const std::string& path) -> Result<std::string> {
        const auto found = kept.attachments.find(path);
        if (found == kept.attachments.end())
          return Fail(ErrorCode::kNotFound, "'{}' did not come with it", path);
        return found->second;
      });
  if (!read || read->size() != 1)
    return Fail(ErrorCode::kInternal,
                "{} as it is kept cannot be read any more; apply it again: {}", title,
                read ? "it is not one document" : read.error().message);
  documents::Document document = std::move(read->front());
  std::vector<documents::FileReference> missing;
  documents::ReadBudget budget;
  if (auto* job = std::get_if<documents::JobDocument>(&document.body))
    if (auto placed = PlacePushes(*job, kept.pushes, budget, missing); !placed)
      return Fail(placed.error().code, "{}: {}", title, placed.error().message);
  return document;
}

void JobBook::Set(const std::string& name, std::optional<documents::JobDocument> job) {
  jobs_[name] = job ? std::make_unique<Job>(Job{std::move(*job), 0, {}}) : nullptr;
}

Result<const JobBook::Job*> JobBook::Find(const std::string& name) {
  const auto known = jobs_.find(name);
  if (known != jobs_.end()) return known->second.get();
  const auto kept = store_.FindDocument("job", name, 0);
  if (!kept) return Fail(kept.error());
  return Keep(name, *kept);
}

Result<> JobBook::Pin(const std::string& name, std::uint32_t version) {
  const auto latest = store_.FindDocument("job", name, 0);
  if (!latest) return Fail(latest.error());
  if (!*latest) return Fail(ErrorCode::kNotFound, "there is no job '{}' any more", name);
  const auto kept = store_.FindDocument("job", name, version);
  if (!kept) return Fail(kept.error());
  if (!*kept) return Fail(ErrorCode::kNotFound, "job '{}' has no version {}", name, version);
  if (const auto job = Keep(name, *kept); !job) return Fail(job.error());
  return {};
}

Result<const JobBook::Job*> JobBook::Keep(const std::string& name,
                                          const std::optional<Document>& kept) {
  auto& place = jobs_[name];
  if (!kept) return nullptr;
  auto read = ReadKept(*kept);
  if (!read) return Fail(read.error());
  place = std::make_unique<Job>(
      Job{std::get<documents::JobDocument>(std::move(read->body)), kept->version, kept->by});
  if (reads_ == Reads::kWithoutCommands) DropCommands(place->document.spec);
  bytes_read_ += BytesOfJob(place->document);
  return place.get();
}

Result<JobBook::Level<RunSpec>> JobBook::Pinned(const Job& job) {
  const std::string& name = job.document.name;
  if (std::ranges::find(way_, name) != way_.end())
    return Fail(ErrorCode::kInvalid, "jobs start each other in a circle: {} -> {}",
                fmt::join(way_, " -> "), name);
  way_.push_back(name);
  if (way_.size() > kDeepestJobs + 1) return NestedTooDeep(way_);
  bytes_of_plan_ += BytesOfJob(job.document);
  if (bytes_of_plan_ > kMostPlanBytes) return PlanTooLarge(way_.front(), bytes_of_plan_);
  std::size_t height = 0;
  RunSpec spec = job.document.spec;
  spec.title = name;
  spec.job = name;
  spec.version = job.version;
  for (const JobAction* action : JobsIn(job.document)) {
    auto child = Child(action->job);
    if (!child) return Fail(child.error());
    spec.jobs[action->job] = std::move(child->plan);
    height = std::max(height, child->height + 1);
  }
  // A child that is known already was not followed down again.
  if (height > kDeepestJobs) return NestedTooDeep(way_);
  way_.pop_back();
  WrapBatched(spec);
  return Level<RunSpec>{std::move(spec), height};
}

Result<JobBook::ChildLevel> JobBook::Child(const std::string& name) {
  if (const auto known = children_.find(name); known != children_.end()) return known->second;
  const auto job = Find(name);
  if (!job) return Fail(job.error());
  if (*job == nullptr)
    return Fail(ErrorCode::kNotFound, "job '{}' starts job '{}', which there is not", way_.back(),
                name);
  auto pinned = Pinned(**job);
  if (!pinned) return Fail(pinned.error());
  RunSpec* const spec = &pinned->plan;
  spec->params = DefaultsOf((*job)->document);
  for (const auto& param : (*job)->document.params)
    spec->accepts.push_back({.name = param.name,
                             .type = param.type,
                             .pattern = param.pattern,
                             .choices = param.choices});
  spec->max_hosts = (*job)->document.max_hosts.value_or(0);
  spec->max_percent = (*job)->document.max_percent.value_or(0);
  return children_[name] = {std::make_shared<const RunSpec>(std::move(*spec)), pinned->height};
}

Result<RunSpec> JobBook::PlanOf(const std::string& name,
                                const std::vector<std::pair<std::string, std::string>>& params,
                                Missing missing) {
  way_.clear();
  bytes_of_plan_ = 0;
  const auto job = Find(name);
  if (!job) return Fail(job.error());
  if (*job == nullptr)
    return Fail(ErrorCode::kNotFound, "there is no job '{}'{}; see 'muster get jobs'", name,
                DidYouMean(store_, "job", name));
  Result<std::vector<Param>> resolved =
      missing == Missing::kAllowed ? Result<std::vector<Param>>(DefaultsOf((*job)->document))
                                   : documents::ResolveParams((*job)->document, params);
  if (!resolved) return Fail(resolved.error());
  auto pinned = Pinned(**job);
  if (!pinned) return Fail(pinned.error());
  pinned->plan.params = std::move(*resolved);
  pinned->plan.targets = (*job)->document.targets;
  // Of what earlier plans had read too.
  if (auto fits = CheckPlanBytes(pinned->plan); !fits) return Fail(fits.error());
  return std::move(pinned->plan);
}

std::set<std::string> JobBook::AuthorsOf(const std::string& name) const {
  std::set<std::string> authors;
  std::set<std::string> seen;
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    const auto found = jobs_.find(at);
    if (!seen.insert(at).second || found == jobs_.end() || !found->second) continue;
    if (!found->second->by.empty()) authors.insert(found->second->by);
    for (const JobAction* action : JobsIn(found->second->document)) open.push_back(action->job);
  }
  return authors;
}

}  // namespace muster::server
