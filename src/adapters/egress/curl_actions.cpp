#include "adapters/egress/curl_actions.hpp"

#include <algorithm>
#include <curl/curl.h>
#include <mutex>
#include <pthread.h>

#include "adapters/egress/transfer.hpp"

namespace muster::outside {
namespace {

// Only an upper bound: whatever happens wakes the thread.
constexpr int kLongestWait = 1000;  // ms

Result<std::shared_ptr<const Bounds>> BoundsOf(const OutsideSettings& settings) {
  auto rules = Rules::Parse(settings.allow, settings.deny);
  if (!rules) return Fail(rules.error());
  return std::make_shared<const Bounds>(Bounds{.rules = std::move(*rules),
                                               .ca_file = settings.ca_file,
                                               .connect_timeout = settings.connect_timeout});
}

}  // namespace

struct CurlActions::Multi {
  CURLM* handle = curl_multi_init();

  Multi() { MUSTER_CHECK(handle != nullptr); }
  ~Multi() { curl_multi_cleanup(handle); }
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;
};

Result<std::unique_ptr<CurlActions>> CurlActions::Make(const OutsideSettings& settings,
                                                       const Clock& clock) {
  static std::once_flag once;
  std::call_once(once, [] { MUSTER_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
  auto bounds = BoundsOf(settings);
  if (!bounds) return Fail(bounds.error());
  return std::unique_ptr<CurlActions>(new CurlActions(std::move(*bounds), clock));
}

CurlActions::CurlActions(std::shared_ptr<const Bounds> bounds, const Clock& clock)
    : clock_(clock),
      multi_(std::make_unique<Multi>()),
      bounds_(std::move(bounds)),
      thread_([this] { Run(); }) {}

CurlActions::~CurlActions() { Stop(); }

Result<> CurlActions::Use(const OutsideSettings& settings) {
  auto bounds = BoundsOf(settings);
  if (!bounds) return Fail(bounds.error());
  const base::Lock lock(mutex_);
  bounds_ = std::move(*bounds);
  return {};
}

void CurlActions::Start(const TaskKey& task, ServerAction action, Done done) {
  auto transfer = std::make_unique<Transfer>(task, std::move(action), std::move(done));
  {
    const base::Lock lock(mutex_);
    if (!stopping_) {
      destinations_.Expect(transfer->Destination());
      waiting_.push_back(std::move(transfer));
      curl_multi_wakeup(multi_->handle);
      return;
    }
  }
  transfer->End({.state = TaskState::kSkipped, .reason = "the server is stopping"});
}

void CurlActions::Cancel(const TaskKey& task) {
  const base::Lock lock(mutex_);
  cancels_.insert(task);
  curl_multi_wakeup(multi_->handle);
}

void CurlActions::Stop() {
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    curl_multi_wakeup(multi_->handle);
  }
  const base::Lock lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void CurlActions::Run() {
  pthread_setname_np(pthread_self(), "outside");
  while (!Stopping()) {
    Admit();
    TakeCancels();
    Perform();
    curl_multi_poll(multi_->handle, nullptr, 0, kLongestWait, nullptr);
  }
  EndAll();
}

bool CurlActions::Stopping() {
  const base::Lock lock(mutex_);
  return stopping_;
}

std::unique_ptr<Transfer> CurlActions::TakeNext() {
  NextPlace next(destinations_);
  for (const auto& transfer : active_) next.AddUnderWay(transfer->Use(), transfer->Destination());
  auto chosen = waiting_.end();
  for (auto place = waiting_.begin(); place != waiting_.end(); ++place) {
    // A cancelled one is ended by TakeCancels, not begun.
    const bool offered = !cancels_.contains((*place)->Task());
    if (offered && next.Offer((*place)->Use(), (*place)->Destination())) chosen = place;
  }
  if (chosen == waiting_.end()) return nullptr;
  std::unique_ptr<Transfer> transfer = std::move(*chosen);
  waiting_.erase(chosen);
  destinations_.Begin(transfer->Destination());
  return transfer;
}

void CurlActions::Admit() {
  while (active_.size() < kAtOnce) {
    std::unique_ptr<Transfer> next;
    std::shared_ptr<const Bounds> bounds;
    {
      const base::Lock lock(mutex_);
      next = TakeNext();
      bounds = bounds_;
    }
    if (!next) return;
    if (auto outcome = next->Prepare(std::move(bounds), clock_.Read().wall)) {
      next->End(std::move(*outcome));
      continue;
    }
    MUSTER_CHECK(curl_multi_add_handle(multi_->handle, next->Handle()) == CURLM_OK);
    active_.push_back(std::move(next));
  }
}

void CurlActions::TakeCancels() {
  std::unordered_set<TaskKey> cancels;
  Transfers unbegun;
  {
    const base::Lock lock(mutex_);
    if (cancels_.empty()) return;
    cancels.swap(cancels_);
    for (auto& transfer : waiting_)
      if (cancels.contains(transfer->Task())) unbegun.push_back(std::move(transfer));
    std::erase(waiting_, nullptr);
  }
  for (const auto& transfer : unbegun)
    transfer->End({.state = TaskState::kSkipped, .reason = "stopped before it began"});
  std::vector<const Transfer*> begun;
  for (const auto& transfer : active_)
    if (cancels.contains(transfer->Task())) begun.push_back(transfer.get());
  for (const auto* transfer : begun) {
    const auto ended = Release(transfer, true);
    ended->End(ended->Broken(TaskState::kKilled, "stopped"));
  }
  // Places became free, and waiting ones stood behind a cancelled one.
  curl_multi_wakeup(multi_->handle);
}

void CurlActions::Perform() {
  int running = 0;
  curl_multi_perform(multi_->handle, &running);
  bool freed = false;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_->handle, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* owner = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
    auto* transfer = static_cast<Transfer*>(owner);
    curl_multi_remove_handle(multi_->handle, transfer->Handle());
    freed = true;
    if (auto outcome = transfer->Finish(code))
      Release(transfer, false)->End(std::move(*outcome));
    else
      MUSTER_CHECK(curl_multi_add_handle(multi_->handle, transfer->Handle()) == CURLM_OK);
  }
  if (freed) curl_multi_wakeup(multi_->handle);
}

std::unique_ptr<Transfer> CurlActions::Release(const Transfer* transfer, bool cut_off) {
  const auto found = std::ranges::find(active_, transfer, &std::unique_ptr<Transfer>::get);
  MUSTER_CHECK(found != active_.end());
  std::unique_ptr<Transfer> released = std::move(*found);
  active_.erase(found);
  curl_multi_remove_handle(multi_->handle, released->Handle());
  const base::Lock lock(mutex_);
  destinations_.End(released->Destination(), released->Lasted(), cut_off);
  return released;
}

void CurlActions::EndAll() {
  while (!active_.empty()) {
    const auto ended = Release(active_.front().get(), true);
    ended->End(ended->Broken(TaskState::kLost, "the server stopped meanwhile"));
  }
  std::deque<std::unique_ptr<Transfer>> waiting;
  {
    const base::Lock lock(mutex_);
    waiting.swap(waiting_);
  }
  for (const auto& transfer : waiting)
    transfer->End({.state = TaskState::kSkipped, .reason = "the server stopped before it began"});
}

}  // namespace muster::outside
