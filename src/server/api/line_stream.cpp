#include "server/api/line_stream.hpp"

#include <utility>

#include <boost/json.hpp>

namespace muster::server::api {
namespace {

constexpr std::size_t kMostAtOnce = 4;
constexpr std::size_t kSlice = 1 << 20;   // before other work has its turn
constexpr std::size_t kRoom = 256 << 10;  // unsent; then the reader has to catch up

// How often an answer looks at its token and its time, whatever its client does.
constexpr Duration kWatchEvery = std::chrono::seconds(2);

}  // namespace

std::shared_ptr<void> LineStreams::TakePlace(const CallPtr& call, std::string_view what) {
  auto holder = callers.Hold(call);
  if (!holder) return nullptr;
  const auto release = [this, holder](void*) { --under_way; };
  std::shared_ptr<void> place(this, release);
  if (under_way.fetch_add(1) < kMostAtOnce) return place;
  call->Fail(503, "unavailable", fmt::format("other {} are under way; try again shortly", what),
             {{"Retry-After", "5"}});
  return nullptr;
}

LineStream::LineStream(LineStreams& services, const Call& call, std::shared_ptr<void> place)
    : services_(services),
      exchange_(call.exchange()),
      token_(call.actor().name),
      ends_(services.clock.Read().mono + services.longest),
      place_(std::move(place)) {}

void LineStream::Begin() {
  exchange_->BeginStream(200,
                         {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}});
  Watch();
  Go();
}

void LineStream::Put(const boost::json::object& line) {
  out_ += boost::json::serialize(line);
  out_ += '\n';
}

// When the token has ended or no worker is free, the exchange goes without its end: the connection
// breaks, which tells the client that it did not see everything.
void LineStream::Go() {
  exchange_->OnRoom(kRoom, [self = shared_from_this()] {
    self->services_.look_again(self->token_, [self](bool usable) {
      if (usable) self->services_.lane.Post([self] { self->Step(); });
    });
  });
}

// Steps wait for the client, which may read slowly or not at all. This does not.
void LineStream::Watch() {
  services_.later(kWatchEvery, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->services_.look_again(self->token_, [self](bool usable) {
      if (usable && !self->TimeIsUp()) return self->Watch();
      self->services_.lane.Post([self, usable] { usable ? self->Finish() : self->Break(); });
    });
  });
}

void LineStream::Step() {
  if (exchange_->Gone() || ended_) return;
  slice_ = 0;
  while (slice_ < kSlice && out_.size() < kRoom && !Stops()) {
    const auto more = GoOn();
    if (!more) return;  // the connection breaks
    if (*more) continue;
    complete_ = !Full();
    return End();
  }
  if (Stops()) return End();
  // An empty line says that it goes on.
  exchange_->Write(out_.empty() ? "\n" : std::exchange(out_, {}));
  Go();
}

// The last line comes after the client took all others. Until then the answer has its place, so
// that no caller has many answers that wait; then it has none, so that who reads the last line may
// ask again at once.
void LineStream::End() {
  if (!out_.empty()) exchange_->Write(std::exchange(out_, {}));
  exchange_->OnRoom(
      1, [self = shared_from_this()] { self->services_.lane.Post([self] { self->Finish(); }); });
}

void LineStream::Finish() {
  if (std::exchange(ended_, true)) return;
  place_.reset();
  boost::json::object last{{"done", true}};
  for (auto& part : Last(complete_)) last[part.key()] = std::move(part.value());
  last["timed_out"] = !complete_ && !Full();
  exchange_->Write(boost::json::serialize(last) + "\n");
  exchange_->End();
}

// Without a last line.
void LineStream::Break() {
  if (std::exchange(ended_, true)) return;
  place_.reset();
  exchange_->End();
}

}  // namespace muster::server::api
