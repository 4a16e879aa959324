#include "cli/runs/stop_many.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <boost/json.hpp>

#include "cli/client/retries.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/usage.hpp"
#include "domain/host_ranges.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::array kOpenStates = {"created", "queued", "running", "paused"};
constexpr std::size_t kMostIdsShown = 50;

// The open runs that are meant, each with the run that started it ("" is none).
using OpenRuns = std::map<std::string, std::string>;

Result<OpenRuns> FindOpenRuns(const Context& context, ApiClient& api, const ManyRuns& which) {
  OpenRuns found;
  for (const char* state : kOpenStates) {
    const auto pages = Persist(context, kPatience, [&] {
      return api.Pages("/runs", {{"state", state}, {"host", which.host}, {"limit", "500"}}, "runs",
                       [&](const json::value& run) {
                         if (which.all || TextOf(run, "job") == which.job)
                           found.emplace(TextOf(run, "id"), TextOf(run, "parent"));
                         return true;
                       });
    });
    if (!pages) return Fail(pages.error());
  }
  return found;
}

// A slip would read as if nothing ran.
Result<> CheckJob(const Context& context, ApiClient& api, const std::string& name) {
  std::vector<std::string> jobs;
  const auto pages = Persist(context, kPatience, [&] {
    return api.Pages("/documents", {{"kind", "job"}, {"limit", "500"}}, "documents",
                     [&](const json::value& job) {
                       jobs.push_back(TextOf(job, "name"));
                       return true;
                     });
  });
  if (!pages) return Fail(pages.error());
  if (std::ranges::find(jobs, name) != jobs.end()) return {};
  const auto meant = Similar(name, jobs);
  return Fail(ErrorCode::kNotFound, "there is no job '{}'{}", name,
              meant.empty() ? std::string("; see 'muster get jobs'")
                            : fmt::format("; did you mean '{}'?", meant.front()));
}

class ManyStops {
 public:
  ManyStops(const Context& context, ApiClient& api, const ManyRuns& which, const json::object& body)
      : context_(context), api_(api), which_(which), body_(body) {}

  Result<int> Run() {
    // Runs that begin while others are stopped are found by the next look.
    for (bool asked = false;; asked = true) {
      const auto open = FindOpenRuns(context_, api_, which_);
      if (!open) return Fail(open.error());
      std::erase_if(refused_, [&](const auto& one) { return !StopsByItself(*open, one.first); });
      const auto fresh = FreshOf(*open);
      if (!asked && open->empty() && !which_.job.empty())
        if (auto known = CheckJob(context_, api_, which_.job); !known) return Fail(known.error());
      if (fresh.empty()) return Report();
      if (!asked) {
        const auto agreed =
            Agreed(context_, api_, which_.yes, Role::kOperator, QuestionAbout(*open, fresh));
        if (!agreed) return Fail(agreed.error());
        if (!*agreed) return kExitInterrupted;
      }
      for (const auto& id : fresh)
        if (!StopOne(id)) return Report();
    }
  }

 private:
  // False for one that has ended, and for one that stops with the run it is inside. Stopping a run
  // on one host leaves the runs inside it alone.
  bool StopsByItself(const OpenRuns& open, const std::string& id) const {
    const auto found = open.find(id);
    return found != open.end() && (!which_.host.empty() || !open.contains(found->second));
  }

  std::vector<std::string> FreshOf(const OpenRuns& open) const {
    std::vector<std::string> fresh;
    for (const auto& [id, parent] : open)
      if (StopsByItself(open, id) && !stopped_.contains(id) && !ended_.contains(id) &&
          !refused_.contains(id))
        fresh.push_back(id);
    std::ranges::sort(fresh, NaturalLess);
    return fresh;
  }

  Question QuestionAbout(const OpenRuns& open, const std::vector<std::string>& fresh) const {
    std::string act =
        fmt::format("Stop {} open run{}", Count(fresh.size()), fresh.size() == 1 ? "" : "s");
    if (!which_.job.empty()) act += " of " + which_.job;
    if (!which_.host.empty()) act += fmt::format(", only on host {},", which_.host);
    if (const auto inside = open.size() - fresh.size(); inside > 0)
      act += fmt::format(" and the {} inside {}",
                         inside == 1 ? "run" : fmt::format("{} runs", Count(inside)),
                         fresh.size() == 1 ? "it" : "them");
    std::string names;
    for (std::size_t i = 0; i < fresh.size() && i < kMostIdsShown; ++i)
      names += (names.empty() ? "" : ", ") + fresh[i];
    if (fresh.size() > kMostIdsShown) names += ", …";
    return {.act = act, .count = fresh.size(), .all = which_.all, .names = names};
  }

  // False when the server is out of reach: each of the others would wait for it again.
  bool StopOne(const std::string& id) {
    const auto answer = Persist(context_, kPatience, [&] {
      return api_.Post(fmt::format("/runs/{}/stop", Segment(id)), body_);
    });
    if (answer) {
      stopped_.insert(id);
      Progress("stopping " + id);
      return true;
    }
    const auto code = answer.error().code;
    // A whole run that ended meanwhile needs no stop. Of one host it may be that the run is not
    // where it can be stopped there, and goes on with it later, or that another host had the name.
    const bool ended = code == ErrorCode::kConflict || code == ErrorCode::kNotFound;
    if (ended && which_.host.empty()) {
      ended_.insert(id);
      Progress(id + " ended meanwhile");
      return true;
    }
    refused_.emplace(id, answer.error());
    return code != ErrorCode::kUnavailable && code != ErrorCode::kTimeout;
  }

  void Progress(const std::string& line) const {
    if (context_.OutputFormat() == Format::kTable) context_.Say(line);
  }

  int Report() const {
    json::array ids;
    for (const auto& id : stopped_) ids.emplace_back(id);
    json::array refusals;
    for (const auto& [id, error] : refused_)
      refusals.push_back(json::object{{"run", id}, {"error", error.message}});
    const auto stopped = stopped_.size();
    if (!context_.PrintDocument(
            json::object{{"stopping", std::move(ids)}, {"refused", std::move(refusals)}}) &&
        (stopped > 0 || refused_.empty()))
      context_.Say(stopped == 0 ? "no such run is open"
                                : fmt::format("stopped {} in all", stopped));
    for (const auto& [id, error] : refused_)
      WriteMessage(OwnLine(fmt::format("muster: {} was not stopped: {}", id, error.message)));
    return refused_.empty() ? 0 : ExitCodeOfError(refused_.begin()->second.code);
  }

  const Context& context_;
  ApiClient& api_;
  const ManyRuns& which_;
  const json::object& body_;
  std::set<std::string> stopped_;
  std::set<std::string> ended_;  // before their stop
  std::map<std::string, Error> refused_;
};

}  // namespace

Result<int> StopMany(const Context& context, ApiClient& api, const ManyRuns& which,
                     const json::object& body) {
  return ManyStops(context, api, which, body).Run();
}

}  // namespace muster::cli
