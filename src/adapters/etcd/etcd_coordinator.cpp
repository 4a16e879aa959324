#include "adapters/etcd/etcd_coordinator.hpp"

#include <algorithm>

#include "adapters/etcd/keeper.hpp"
#include "adapters/etcd/watcher.hpp"
#include "base/loopback.hpp"

namespace muster {

// In build order: each uses those above it, and ends before them. Only the wake-up goes upwards.
struct EtcdCoordinator::Parts {
  Parts(const std::vector<net::Endpoint>& endpoints, const EtcdOptions& options, Duration timeout,
        const Clock& clock);

  etcd::Session session;
  etcd::Gateway keeping;
  etcd::Gateway watching;
  etcd::View view;
  base::Mutex mutex;
  etcd::Keeper* wakes GUARDED_BY(mutex) = nullptr;  // while the keeper lives
  etcd::Turns turns;
  std::optional<etcd::Keeper> keeper;
  std::optional<etcd::Watcher> watcher;

  void Wake() EXCLUDES(mutex) {
    base::Lock lock(mutex);
    if (wakes != nullptr) wakes->Wake();
  }
};

EtcdCoordinator::Parts::Parts(const std::vector<net::Endpoint>& endpoints,
                              const EtcdOptions& options, Duration timeout, const Clock& clock)
    : keeping(endpoints, options, timeout, session, etcd::Gateway::Role::kLogsIn),
      watching(endpoints, options, timeout, session, etcd::Gateway::Role::kFollows),
      view(etcd::Keys(options.prefix)),
      turns(clock, [this] { Wake(); }) {
  const etcd::Keys keys(options.prefix);
  keeper.emplace(keeping, etcd::Keeper::Options{keys, options.lease}, clock, turns, view);
  {
    base::Lock lock(mutex);
    wakes = &*keeper;
  }
  watcher.emplace(watching, keys, 2 * options.lease, view, [this] {
    turns.Changed();
    Wake();
  });
}

namespace {

Duration TimeoutOf(const EtcdOptions& options) {
  return options.timeout > Duration(0) ? options.timeout
                                       : std::min(options.lease / 6, Duration(500));
}

}  // namespace

Result<> EtcdCoordinator::Check(const EtcdOptions& options) {
  if (const auto endpoints = etcd::ParseEndpoints(options.endpoints); !endpoints)
    return Fail(endpoints.error());
  if (options.prefix.empty())
    return Fail(ErrorCode::kInvalid, "etcd: the prefix is empty; expected one like /muster/");
  if (options.lease < std::chrono::seconds(1) || options.lease > std::chrono::hours(1))
    return Fail(ErrorCode::kInvalid, "etcd: a lease lasts 1s to 1h, not {}",
                FormatDuration(options.lease));
  if (TimeoutOf(options) > options.lease / 4)
    return Fail(ErrorCode::kInvalid,
                "etcd: a request may take {} of a lease of {}; give it a quarter at most",
                FormatDuration(TimeoutOf(options)), FormatDuration(options.lease));
  return {};
}

bool EtcdCoordinator::LeavesTheMachine(const std::vector<std::string>& endpoints) {
  const auto parsed = etcd::ParseEndpoints(endpoints);
  return parsed && std::ranges::any_of(
                       *parsed, [](const auto& endpoint) { return !IsLoopback(endpoint.host); });
}

Result<std::unique_ptr<EtcdCoordinator>> EtcdCoordinator::Make(EtcdOptions options,
                                                               const Clock& clock) {
  if (auto good = Check(options); !good) return Fail(good.error());
  if (!options.prefix.ends_with('/')) options.prefix += '/';
  const auto endpoints = etcd::ParseEndpoints(options.endpoints);
  auto parts = std::make_unique<Parts>(*endpoints, options, TimeoutOf(options), clock);
  return std::unique_ptr<EtcdCoordinator>(new EtcdCoordinator(std::move(parts)));
}

EtcdCoordinator::EtcdCoordinator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

EtcdCoordinator::~EtcdCoordinator() {
  parts_->turns.Leave();
  parts_->watcher.reset();
  {
    base::Lock lock(parts_->mutex);
    parts_->wakes = nullptr;
  }
  parts_->keeper.reset();
}

Result<> EtcdCoordinator::Campaign(std::string name, std::function<void()> elected,
                                   std::function<void()> lost) {
  return parts_->turns.Enter(std::move(name), std::move(elected), std::move(lost));
}

void EtcdCoordinator::Resign() { parts_->turns.Leave(); }

MonoTime EtcdCoordinator::LeadUntil() const { return parts_->turns.LeadUntil(); }

std::string EtcdCoordinator::Leader() const { return parts_->view.Leader(); }

void EtcdCoordinator::Announce(Member self) { parts_->keeper->Announce(std::move(self)); }

std::vector<Member> EtcdCoordinator::Members() const { return parts_->view.Members(); }

void EtcdCoordinator::OnChange(std::function<void()> changed) {
  parts_->turns.OnChange(std::move(changed));
}

std::string EtcdCoordinator::Trouble() const { return parts_->keeper->Trouble(); }

}  // namespace muster
