#include "cli/client/event_feed.hpp"

#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "cli/client/api_client.hpp"

namespace muster::cli {
namespace {

// A reader that cannot keep up stops reading: the server then says `gap` instead of this growing.
constexpr std::size_t kMostEventBytes = 8 << 20;

}  // namespace

struct EventFeed::Shared {
  Shared() : wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Shared() { close(wake); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // Of the connection that `round` counts. False when nobody wants items of it
  // any more.
  bool Put(std::uint64_t round, Item item) EXCLUDES(mutex) {
    const base::Lock lock(mutex);
    while (bytes > kMostEventBytes && IsWanted(round)) room.Wait(mutex);
    if (!IsWanted(round)) return false;
    bytes += item.Bytes();
    items.push_back(std::move(item));
    const std::uint64_t one = 1;
    return write(wake, &one, sizeof one) == sizeof one;
  }

  bool Hear(std::uint64_t round, std::size_t at) EXCLUDES(mutex) {
    const base::Lock lock(mutex);
    if (!IsWanted(round)) return false;
    heard = Clock::now();
    server = at;
    return true;
  }

  // Begins the next connection, and forgets what the one before it brought.
  std::uint64_t Begin(std::size_t at) EXCLUDES(mutex) {
    const base::Lock lock(mutex);
    items.clear();
    bytes = 0;
    heard = Clock::now();
    server = at;
    room.NotifyAll();
    return ++rounds;
  }

  bool IsWanted(std::uint64_t round) const REQUIRES(mutex) { return !abandoned && round == rounds; }

  const int wake;
  mutable base::Mutex mutex;
  base::Condition room;
  std::uint64_t rounds GUARDED_BY(mutex) = 0;
  Clock::time_point heard GUARDED_BY(mutex) = Clock::now();
  std::size_t server GUARDED_BY(mutex) = 0;
  std::deque<Item> items GUARDED_BY(mutex);
  std::size_t bytes GUARDED_BY(mutex) = 0;
  bool abandoned GUARDED_BY(mutex) = false;
};

EventFeed::EventFeed(const Context& context, std::string topics)
    : context_(context), topics_(std::move(topics)), shared_(std::make_shared<Shared>()) {}

EventFeed::~EventFeed() {
  const base::Lock lock(shared_->mutex);
  shared_->abandoned = true;
  shared_->room.NotifyAll();
}

void EventFeed::Start(const std::string& from, std::size_t server) {
  const auto round = shared_->Begin(server);
  auto api = ApiClient::Open(context_);
  if (!api) {
    shared_->Put(round, {{}, true, api.error()});
    return;
  }
  api->Prefer(server);
  const Query query{{"topics", topics_}, {"from", from}};
  std::thread reader([shared = shared_, api = std::move(*api), query, round]() mutable {
    const auto end = api.Events(
        query, [&](SseEvent event) { return shared->Put(round, {std::move(event), false, {}}); },
        [&] { return shared->Hear(round, api.Server()); });
    Error error{ErrorCode::kTimeout, "the server closed the connection"};
    if (!end) error = end.error();
    shared->Hear(round, api.Server());
    shared->Put(round, {{}, true, std::move(error)});
  });
  // Its only wait is for the network, which cannot be ended from here; see the class's promise.
  reader.detach();
}

EventFeed::Clock::time_point EventFeed::Heard() const {
  const base::Lock lock(shared_->mutex);
  return shared_->heard;
}

std::size_t EventFeed::Server() const {
  const base::Lock lock(shared_->mutex);
  return shared_->server;
}

int EventFeed::Fd() const { return shared_->wake; }

std::vector<EventFeed::Item> EventFeed::Take() {
  std::uint64_t count = 0;
  (void)!read(shared_->wake, &count, sizeof count);
  const base::Lock lock(shared_->mutex);
  std::vector<Item> items(std::make_move_iterator(shared_->items.begin()),
                          std::make_move_iterator(shared_->items.end()));
  shared_->items.clear();
  shared_->bytes = 0;
  shared_->room.NotifyAll();
  return items;
}

}  // namespace muster::cli
