#include "server/api/search.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/run_summary.hpp"
#include "server/results/run_results.hpp"
#include "server/search/line_search.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kSearchPage = 200;         // tasks
constexpr std::size_t kOutputPiece = 256 << 10;  // of one output
constexpr std::size_t kMostText = 4 << 10;       // of a line in the answer

struct SearchRequest {
  RunId run;
  SearchPattern pattern;
  std::size_t context = 0;
  std::uint64_t limit = 0;
  TaskFilter filter;                      // of one host
  std::optional<std::set<Visit>> visits;  // of one stage
  std::shared_ptr<const Targets> targets;
};

class Search final : public LineStream {
 public:
  Search(SearchServices& services, const Call& call, SearchRequest request,
         std::shared_ptr<void> place)
      : LineStream(services, call, std::move(place)),
        services_(services),
        request_(std::move(request)) {}

 private:
  Result<bool> GoOn() override { return task_ ? ReadOn() : NextTask(); }
  bool Full() const override { return matches_ >= request_.limit; }
  json::object Last(bool complete) const override {
    return {{"tasks", tasks_}, {"bytes", bytes_}, {"matches", matches_}, {"more", !complete}};
  }

  // False: there is no task left.
  Result<bool> NextTask() {
    Spend(4096);  // a look-up is not free either
    // The row behind a task's tells whether the task was tried again.
    if (page_.size() < 2 && !last_page_) {
      auto rows = services_.store.ListTasks(request_.run, request_.filter, after_, kSearchPage);
      if (!rows) return Fail(rows.error());
      last_page_ = rows->size() < kSearchPage;
      if (!rows->empty()) after_ = rows->back().key;
      for (const auto& row : *rows)
        if (row.sent && (!request_.visits || request_.visits->contains(row.key.visit)))
          page_.push_back(row.key);
      return true;
    }
    if (page_.empty()) return false;
    task_ = page_.front();
    page_.pop_front();
    repeated_ =
        task_->attempt.value > 1 || (!page_.empty() && page_.front().visit == task_->visit &&
                                     page_.front().ordinal == task_->ordinal);
    offset_ = 0;
    ++tasks_;
    lines_.emplace(request_.pattern, request_.context,
                   [this](FoundLine line) { Tell(std::move(line)); });
    return NameStage(task_->visit);
  }

  Result<bool> ReadOn() {
    const auto chunks = services_.logs.Read(*task_, offset_, kOutputPiece);
    if (!chunks) return Fail(chunks.error());
    for (const auto& chunk : *chunks) {
      lines_->Add(chunk.stream, chunk.data);
      offset_ = chunk.offset + chunk.data.size();
      Spend(chunk.data.size());
      bytes_ += chunk.data.size();
    }
    if (!chunks->empty()) return true;
    lines_->Finish();
    task_.reset();
    return true;
  }

  Result<bool> NameStage(Visit visit) {
    if (stages_.contains(visit)) return true;
    const Visit known = stages_.empty() ? Visit{} : stages_.rbegin()->first;
    const auto visits = services_.store.ListVisits(request_.run, known, 1000);
    if (!visits) return Fail(visits.error());
    for (const auto& one : *visits) stages_[one.visit] = {one.name, one.pass};
    stages_.try_emplace(visit);
    return true;
  }

  void Tell(FoundLine line) {
    if (Full()) return;
    if (line.match) ++matches_;
    json::object view{{"host", (*request_.targets)[task_->ordinal].name},
                      {"stage", stages_[task_->visit].name},
                      {"pass", stages_[task_->visit].pass},
                      {"visit", task_->visit.value},
                      {"attempt", task_->attempt.value},
                      {"repeated", repeated_},
                      {"stream", Name(line.stream)},
                      {"line", line.number},
                      {"match", line.match}};
    if (IsUtf8(line.text))
      view["text"] = Clipped(line.text, kMostText);
    else
      view["text_base64"] = ToBase64(line.text.substr(0, kMostText));
    if (line.cut || line.text.size() > kMostText) view["cut"] = true;
    Put(view);
  }

  SearchServices& services_;
  const SearchRequest request_;
  std::optional<TaskKey> after_;
  bool last_page_ = false;
  std::deque<TaskKey> page_;
  std::optional<TaskKey> task_;  // whose output is looked through
  bool repeated_ = false;        // it has other attempts
  std::uint64_t offset_ = 0;
  std::optional<LineSearch> lines_;
  struct Entered {
    std::string name;
    std::uint32_t pass = 1;
  };
  std::map<Visit, Entered> stages_;
  std::uint64_t tasks_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t matches_ = 0;
};

Result<SearchRequest> ReadRequest(SearchServices& services, const Call& call) {
  const auto id = ParseRunId(call.Part("id"));
  if (!id) return Fail(id.error());
  const auto ignore_case = call.QueryFlag("ignore_case");
  if (!ignore_case) return Fail(ignore_case.error());
  auto pattern = SearchPattern::Of(call.Query("re"), *ignore_case);
  if (!pattern) return Fail(pattern.error());
  const auto context = call.QueryNumber("context", 0, 0, 20);
  if (!context) return Fail(context.error());
  const auto limit = call.QueryNumber("limit", 10'000, 1, 1'000'000);
  if (!limit) return Fail(limit.error());
  SearchRequest request{.run = *id, .pattern = std::move(*pattern)};
  request.context = *context;
  request.limit = *limit;
  request.filter.last_attempt_only = false;
  auto targets = services.store.FindTargets(*id);
  if (!targets) return Fail(targets.error());
  request.targets = std::move(*targets);
  if (const auto& host = call.Query("host"); !host.empty()) {
    const auto target = std::ranges::find(*request.targets, host, &Target::name);
    if (target == request.targets->end())
      return Fail(ErrorCode::kNotFound, "run {} has no host '{}'", FormatRunId(*id), host);
    request.filter.host = target->host;
  }
  if (const auto& stage = call.Query("stage"); !stage.empty()) {
    const auto visits = VisitsOf(services.store, *id, stage);
    if (!visits) return Fail(visits.error());
    request.visits.emplace();
    for (const auto& visit : *visits) request.visits->insert(visit.visit);
  }
  return request;
}

void Find(SearchServices& services, const CallPtr& call) {
  auto request = ReadRequest(services, *call);
  if (!request) return call->Fail(request.error());
  auto place = services.TakePlace(call, "searches");
  if (!place) return;
  std::make_shared<Search>(services, *call, std::move(*request), std::move(place))->Begin();
}

}  // namespace

std::vector<Route> SearchRoutes(SearchServices& services) {
  return {
      {"GET", "/api/v1/runs/{id}/search", Privilege::kView,
       [&services](const CallPtr& call) { Find(services, call); }, kOnRecord},
  };
}

}  // namespace muster::server::api
