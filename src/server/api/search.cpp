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

constexpr std::size_t kMostSearches = 4;
constexpr std::size_t kSearchPage = 200;         // tasks
constexpr std::size_t kOutputPiece = 256 << 10;  // of one output
constexpr std::size_t kSlice = 1 << 20;          // before other work has its turn
constexpr std::size_t kMostText = 4 << 10;       // of a line in the answer
constexpr std::size_t kRoom = 256 << 10;         // unsent; then the reader has to catch up

// How often a search looks at its token and its time, whatever its client does.
constexpr Duration kWatchEvery = std::chrono::seconds(2);

struct SearchRequest {
  RunId run;
  SearchPattern pattern;
  std::size_t context = 0;
  std::uint64_t limit = 0;
  TaskFilter filter;                      // of one host
  std::optional<std::set<Visit>> visits;  // of one stage
  std::shared_ptr<const Targets> targets;
};

// One of the searches that may be under way, and the one of its caller; null when there is none
// left, and the call was answered.
std::shared_ptr<void> TakePlace(SearchServices& services, const CallPtr& call) {
  auto callers = services.callers.Hold(call);
  if (!callers) return nullptr;
  const auto release = [&services, callers](void*) { --services.under_way; };
  std::shared_ptr<void> place(&services, release);
  if (services.under_way.fetch_add(1) < kMostSearches) return place;
  call->Fail(503, "unavailable", "other searches are under way; try again shortly",
             {{"Retry-After", "5"}});
  return nullptr;
}

// One search under way. Alive as long as a worker or the exchange will go on with it. Its steps and
// its end are in the lane, so one of them is done at a time.
class Search : public std::enable_shared_from_this<Search> {
 public:
  Search(SearchServices& services, const Call& call, SearchRequest request,
         std::shared_ptr<void> place)
      : services_(services),
        exchange_(call.exchange()),
        token_(call.actor().name),
        ends_(services.clock.Read().mono + services.longest),
        request_(std::move(request)),
        place_(std::move(place)) {}

  void Begin() {
    exchange_->BeginStream(
        200, {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}});
    Watch();
    Go();
  }

 private:
  // When the token has ended or no worker is free, the exchange goes without its end: the
  // connection breaks, which tells the client that it did not see everything.
  void Go() {
    exchange_->OnRoom(kRoom, [self = shared_from_this()] {
      self->services_.look_again(self->token_, [self](bool usable) {
        if (usable) self->services_.lane.Post([self] { self->Step(); });
      });
    });
  }

  // Steps wait for the client, which may read slowly or not at all. This does not.
  void Watch() {
    services_.later(kWatchEvery, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->services_.look_again(self->token_, [self](bool usable) {
        if (usable && !self->TimeIsUp()) return self->Watch();
        self->services_.lane.Post([self, usable] { usable ? self->Finish() : self->Break(); });
      });
    });
  }

  void Step() {
    if (exchange_->Gone() || ended_) return;
    slice_ = 0;
    while (slice_ < kSlice && out_.size() < kRoom && !Stops()) {
      const auto more = task_ ? ReadOn() : NextTask();
      if (!more) return;  // the connection breaks
      if (*more) continue;
      complete_ = !Full();
      return End();
    }
    if (Stops()) return End();
    // An empty line says that the search goes on.
    exchange_->Write(out_.empty() ? "\n" : std::exchange(out_, {}));
    Go();
  }

  bool Full() const { return matches_ >= request_.limit; }
  bool TimeIsUp() const { return services_.clock.Read().mono >= ends_; }
  bool Stops() const { return Full() || TimeIsUp(); }

  // False: there is no task left.
  Result<bool> NextTask() {
    slice_ += 4096;  // a look-up is not free either
    if (page_.empty()) {
      if (last_page_) return false;
      auto rows = services_.store.ListTasks(request_.run, request_.filter, after_, kSearchPage);
      if (!rows) return Fail(rows.error());
      last_page_ = rows->size() < kSearchPage;
      if (!rows->empty()) after_ = rows->back().key;
      for (const auto& row : *rows)
        if (row.sent && (!request_.visits || request_.visits->contains(row.key.visit)))
          page_.push_back(row.key);
      return true;
    }
    task_ = page_.front();
    page_.pop_front();
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
      slice_ += chunk.data.size();
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
                      {"stream", Name(line.stream)},
                      {"line", line.number},
                      {"match", line.match}};
    if (IsUtf8(line.text))
      view["text"] = Clipped(line.text, kMostText);
    else
      view["text_base64"] = ToBase64(line.text.substr(0, kMostText));
    if (line.cut || line.text.size() > kMostText) view["cut"] = true;
    out_ += json::serialize(view) + "\n";
  }

  // The last line comes after the client took all others. Until then the search has its place, so
  // that no caller has many answers that wait; then it has none, so that who reads the last line
  // may search again at once.
  void End() {
    if (!out_.empty()) exchange_->Write(std::exchange(out_, {}));
    exchange_->OnRoom(
        1, [self = shared_from_this()] { self->services_.lane.Post([self] { self->Finish(); }); });
  }

  void Finish() {
    if (std::exchange(ended_, true)) return;
    place_.reset();
    const json::object last{{"done", true},       {"tasks", tasks_},
                            {"bytes", bytes_},    {"matches", matches_},
                            {"more", !complete_}, {"timed_out", !complete_ && !Full()}};
    exchange_->Write(json::serialize(last) + "\n");
    exchange_->End();
  }

  // Without a last line.
  void Break() {
    if (std::exchange(ended_, true)) return;
    place_.reset();
    exchange_->End();
  }

  SearchServices& services_;
  const std::shared_ptr<net::HttpExchange> exchange_;
  const std::string token_;
  const MonoTime ends_;
  const SearchRequest request_;
  std::shared_ptr<void> place_;  // counted until it goes
  bool complete_ = false;        // all output was looked through
  bool ended_ = false;
  std::optional<TaskKey> after_;
  bool last_page_ = false;
  std::deque<TaskKey> page_;
  std::optional<TaskKey> task_;  // whose output is looked through
  std::uint64_t offset_ = 0;
  std::optional<LineSearch> lines_;
  struct Entered {
    std::string name;
    std::uint32_t pass = 1;
  };
  std::map<Visit, Entered> stages_;
  std::string out_;
  std::size_t slice_ = 0;
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
  auto place = TakePlace(services, call);
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
