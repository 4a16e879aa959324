#include "server/peers/peer_frames.hpp"

#include <algorithm>

#include "peers.pb.h"

#include "base/time_bounds.hpp"
#include "link/codec/parts.hpp"

namespace muster::server {
namespace {

namespace wire = muster::peers::v1;

constexpr std::size_t kFrameBytes = 512 << 10;

Error Strange() { return {ErrorCode::kInvalid, "a frame that no server of this version sends"}; }

void PutKey(const TaskKey& key, muster::link::v1::TaskKey* out) {
  out->set_run(key.run.value);
  out->set_visit(key.visit.value);
  out->set_ordinal(key.ordinal);
  out->set_host(key.host.value);
  out->set_attempt(key.attempt.value);
}

TaskKey TakeKey(const muster::link::v1::TaskKey& in) {
  return {.run = RunId(in.run()),
          .visit = Visit(in.visit()),
          .ordinal = in.ordinal(),
          .host = HostId(in.host()),
          .attempt = Attempt(in.attempt())};
}

void Put(const FollowerHello& hello, wire::FollowerItem* out) {
  out->mutable_hello()->set_name(hello.name);
  out->mutable_hello()->set_version(hello.version);
  out->mutable_hello()->set_url(hello.url);
  for (const auto& ca : hello.cas) out->mutable_hello()->add_cas(ca);
}

void Put(const FollowerBeat& beat, wire::FollowerItem* out) {
  out->mutable_beat()->set_sent_at(beat.sent_at.ms);
  if (beat.clock_ahead) out->mutable_beat()->set_clock_ahead(beat.clock_ahead->count());
  for (const auto& [host, at] : beat.heard) {
    auto* one = out->mutable_beat()->add_heard();
    one->set_host(host.value);
    one->set_ago_ms((beat.sent_at - at).count());
  }
}

void Put(const engine::NodeHello& hello, wire::FollowerItem* out) {
  auto* said = out->mutable_said();
  said->set_link(hello.link.value);
  link::NodeFrame frame;
  frame.hello = hello.hello;
  said->set_frame(link::Encode(frame));
  said->set_key(hello.key);
  said->set_address(hello.address);
  for (const auto& looked : hello.looked) said->add_durable(looked.durable_log);
}

void Put(const engine::NodeReports& reports, wire::FollowerItem* out) {
  auto* said = out->mutable_said();
  said->set_link(reports.link.value);
  link::NodeFrame frame;
  frame.session = reports.session;
  for (std::size_t i = 0; i < reports.reports.size(); ++i) {
    const auto& [report, mark] = reports.reports[i];
    frame.reports.push_back(report);
    if (!mark) continue;
    auto* one = said->add_marks();
    one->set_report(static_cast<std::uint32_t>(i));
    one->set_state(static_cast<std::uint32_t>(mark->state));
    one->set_bytes(mark->bytes);
    one->set_stdout_sha256(mark->stdout_sha256);
    one->set_stderr_sha256(mark->stderr_sha256);
    one->set_masked_sha256(mark->masked_sha256);
  }
  said->set_frame(link::Encode(frame));
}

void Put(const engine::LinkClosed& closed, wire::FollowerItem* out) {
  out->set_closed(closed.link.value);
  out->set_silent_ms(closed.silent.count());
}

void Put(const StoredOutput& stored, wire::FollowerItem* out) {
  PutKey(stored.task, out->mutable_stored()->mutable_task());
  out->mutable_stored()->set_from(stored.from);
  out->mutable_stored()->set_end(stored.end);
}

Result<FollowerItem> TakeHello(const wire::NodeSaid& said, link::Hello hello) {
  if (static_cast<std::size_t>(said.durable_size()) != hello.tasks.size() &&
      said.durable_size() != 0)
    return Fail(Strange());
  engine::NodeHello command;
  command.link = LinkId(said.link());
  command.key = said.key();
  command.address = said.address();
  command.hello = std::move(hello);
  for (const auto durable : said.durable()) command.looked.push_back({std::nullopt, durable});
  return command;
}

Result<FollowerItem> TakeReports(const wire::NodeSaid& said, link::NodeFrame frame) {
  engine::NodeReports command;
  command.link = LinkId(said.link());
  command.session = frame.session;
  for (auto& report : frame.reports) command.reports.push_back({std::move(report), std::nullopt});
  for (const auto& mark : said.marks()) {
    if (mark.report() >= command.reports.size() ||
        mark.state() > static_cast<std::uint32_t>(LogState::kExpired))
      return Fail(Strange());
    command.reports[mark.report()].mark = LogMark{.state = static_cast<LogState>(mark.state()),
                                                  .bytes = mark.bytes(),
                                                  .stdout_sha256 = mark.stdout_sha256(),
                                                  .stderr_sha256 = mark.stderr_sha256(),
                                                  .masked_sha256 = mark.masked_sha256()};
  }
  return command;
}

Result<FollowerItem> Take(const wire::NodeSaid& said) {
  auto frame = link::DecodeNodeFrame(said.frame());
  if (!frame) return Fail(frame.error());
  if (frame->hello) return TakeHello(said, std::move(*frame->hello));
  return TakeReports(said, std::move(*frame));
}

Result<FollowerItem> Take(const wire::FollowerBeat& beat) {
  if (!IsMoment(beat.sent_at()) || !IsSpan(beat.clock_ahead())) return Fail(Strange());
  FollowerBeat taken{.sent_at = {beat.sent_at()}};
  if (beat.has_clock_ahead()) taken.clock_ahead = Duration(beat.clock_ahead());
  for (const auto& one : beat.heard()) {
    if (!IsSpan(one.ago_ms()) || one.ago_ms() < 0) return Fail(Strange());
    taken.heard.push_back({HostId(one.host()), taken.sent_at + -Duration(one.ago_ms())});
  }
  return taken;
}

Result<FollowerItem> TakeClosed(const wire::FollowerItem& item) {
  if (!IsSpan(item.silent_ms())) return Fail(Strange());
  return engine::LinkClosed{LinkId(item.closed()),
                            Duration(std::max<std::int64_t>(item.silent_ms(), 0))};
}

Result<FollowerItem> Take(const wire::FollowerItem& item) {
  switch (item.what_case()) {
    case wire::FollowerItem::kHello:
      return FollowerHello{item.hello().name(),
                           item.hello().version(),
                           item.hello().url(),
                           {item.hello().cas().begin(), item.hello().cas().end()}};
    case wire::FollowerItem::kBeat:
      return Take(item.beat());
    case wire::FollowerItem::kSaid:
      return Take(item.said());
    case wire::FollowerItem::kClosed:
      return TakeClosed(item);
    case wire::FollowerItem::kStored:
      return StoredOutput{TakeKey(item.stored().task()), item.stored().from(), item.stored().end()};
    case wire::FollowerItem::WHAT_NOT_SET:
      break;
  }
  return Fail(Strange());
}

void Put(const ClusterFacts& facts, wire::ClusterFacts* out) {
  for (const auto& server : facts.servers) {
    auto* one = out->add_servers();
    one->set_name(server.name);
    one->set_url(server.url);
    for (const auto& ca : server.cas) one->add_cas(ca);
  }
  for (const auto& hosts : facts.hosts) {
    auto* one = out->add_hosts();
    one->set_ca(hosts.ca);
    one->set_trusts(hosts.trusts);
    one->set_count(hosts.count);
    one->set_example(hosts.examples);
  }
}

ClusterFacts Take(const wire::ClusterFacts& in) {
  ClusterFacts facts;
  for (const auto& server : in.servers())
    facts.servers.push_back(
        {server.name(), server.url(), {server.cas().begin(), server.cas().end()}});
  for (const auto& hosts : in.hosts())
    facts.hosts.push_back({hosts.ca(), hosts.trusts(), hosts.count(), hosts.example()});
  return facts;
}

Result<LeaderItem> Take(const wire::LeaderBeat& beat) {
  for (const std::int64_t time : {beat.echo(), beat.now(), beat.wall()})
    if (!IsMoment(time)) return Fail(Strange());
  LeaderBeat taken{.echo = {beat.echo()}, .now = {beat.now()}, .wall = {beat.wall()}};
  if (beat.has_cluster()) taken.cluster = Take(beat.cluster());
  return taken;
}

Result<LeaderItem> Take(const wire::LeaderItem& item) {
  switch (item.what_case()) {
    case wire::LeaderItem::kWelcome:
      return LeaderWelcome{Term(item.welcome()), link::codec::Take(item.ticket())};
    case wire::LeaderItem::kRefusal:
      return LeaderRefusal{item.refusal()};
    case wire::LeaderItem::kBeat:
      return Take(item.beat());
    case wire::LeaderItem::kTold: {
      auto frame = link::DecodeServerFrame(item.told().frame());
      if (!frame) return Fail(frame.error());
      return Links::Outgoing{LinkId(item.told().link()), std::move(*frame)};
    }
    case wire::LeaderItem::kClose:
      return CloseLink{LinkId(item.close())};
    case wire::LeaderItem::kDrain:
      return DrainOrder{item.drain()};
    case wire::LeaderItem::WHAT_NOT_SET:
      break;
  }
  return Fail(Strange());
}

// A frame is its items one after the other, so that two frames put together are one.
template <typename Frame>
void Append(const Frame& frame, std::vector<std::string>& frames) {
  std::string bytes = frame.SerializeAsString();
  if (frames.empty() || frames.back().size() + bytes.size() > kFrameBytes)
    frames.push_back(std::move(bytes));
  else
    frames.back() += bytes;
}

template <typename Item, typename Frame>
Result<std::vector<Item>> Decode(std::string_view bytes) {
  Frame frame;
  if (!frame.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Fail(Strange());
  std::vector<Item> items;
  for (const auto& one : frame.items()) {
    auto item = Take(one);
    if (!item) return Fail(item.error());
    items.push_back(std::move(*item));
  }
  return items;
}

}  // namespace

void FollowerFrames::Add(const FollowerItem& item) {
  wire::FollowerFrame frame;
  std::visit([&](const auto& one) { Put(one, frame.add_items()); }, item);
  Append(frame, frames_);
}

std::vector<std::string> FollowerFrames::Take() { return std::exchange(frames_, {}); }

void LeaderFrames::Add(const LeaderItem& item) {
  wire::LeaderFrame frame;
  auto* out = frame.add_items();
  if (const auto* welcome = std::get_if<LeaderWelcome>(&item)) {
    out->set_welcome(welcome->term.value);
    link::codec::Put(welcome->ticket, out->mutable_ticket());
  }
  if (const auto* refusal = std::get_if<LeaderRefusal>(&item)) out->set_refusal(refusal->why);
  if (const auto* beat = std::get_if<LeaderBeat>(&item)) {
    out->mutable_beat()->set_echo(beat->echo.ms);
    out->mutable_beat()->set_now(beat->now.ms);
    out->mutable_beat()->set_wall(beat->wall.ms);
    if (beat->cluster) Put(*beat->cluster, out->mutable_beat()->mutable_cluster());
  }
  if (const auto* told = std::get_if<Links::Outgoing>(&item)) {
    out->mutable_told()->set_link(told->link.value);
    out->mutable_told()->set_frame(encoder_.Encode(told->frame));
  }
  if (const auto* close = std::get_if<CloseLink>(&item)) out->set_close(close->link.value);
  if (const auto* drain = std::get_if<DrainOrder>(&item)) out->set_drain(drain->wanted);
  Append(frame, frames_);
}

std::vector<std::string> LeaderFrames::Take() { return std::exchange(frames_, {}); }

Result<std::vector<FollowerItem>> DecodeFollowerFrame(std::string_view bytes) {
  return Decode<FollowerItem, wire::FollowerFrame>(bytes);
}

Result<std::vector<LeaderItem>> DecodeLeaderFrame(std::string_view bytes) {
  return Decode<LeaderItem, wire::LeaderFrame>(bytes);
}

}  // namespace muster::server
