// The gateway's part that decides which links and frames it takes at all. Everything here happens
// on the only network thread, so it costs little, and the rest is paid for before it is done.
#include <utility>

#include <spdlog/spdlog.h>

#include "link/codec/frame_shape.hpp"
#include "server/gateway/frame_check.hpp"
#include "server/gateway/gateway.hpp"

namespace muster::server {
namespace {

// A certificate's allowance, which all its links share. The busiest of agents reports some hundred
// tasks a second, and a Hello lists what it holds at once.
constexpr double kMostAtOnce = 2.0 * kMostHeldTasks;
constexpr double kMostPerSecond = 5'000;

// Prices. A frame is 1, and so are a listed task and a report.
// A Hello is a commit and a round through all the host's tasks.
constexpr std::size_t kHelloCost = 500;
// Bytes are decrypted and copied, about 3 ms for a MiB. An agent on a machine with two processors
// sends 62 MB of output a second; this leaves 140 MB a second without end, and 2.7 GB at once.
constexpr std::size_t kBytesForOne = 32 << 10;
// A field takes some 20 ns to decode. A listed task has 8 of them, a piece of output 10.
constexpr std::size_t kFieldsForOne = 256;
// A piece takes some 0.3 µs, also when it is dropped. Together with its fields, a second's
// allowance is 90,000 pieces as an agent sends them.
constexpr std::size_t kChunksForOne = 64;
// A frame that no agent sends: one a second, and 20 at once. A link costs a TLS handshake too.
constexpr double kOffenceCost = 5'000;

// Until its Welcome a node has to tell what it is and what it holds. Only the second can be long.
constexpr std::size_t kMostBeforeWelcome = 64 << 10;

// A node has one link; a few more may be left of a network that broke, until they fall silent.
constexpr std::size_t kMostLinksOfKey = 8;
// Keys without a link that are remembered until their allowance is full again, before it is looked
// for such.
constexpr std::size_t kKeysUntilSwept = 1'000;
// How long the engine's refusal is repeated here. Short, as an unknown key may join.
constexpr Duration kRefusalLasts = std::chrono::seconds(5);

double PriceOfBytes(std::size_t bytes) { return static_cast<double>(1 + bytes / kBytesForOne); }

double PriceOf(const link::FrameShape& shape) {
  return static_cast<double>((shape.hello ? kHelloCost : 0) + shape.tasks + shape.reports +
                             shape.chunks / kChunksForOne + shape.fields / kFieldsForOne);
}

std::unexpected<Error> TooMuch() {
  return Fail(ErrorCode::kDenied, "the node sends more than can be acted on");
}

}  // namespace

void Gateway::OnLink(std::shared_ptr<net::LinkConnection> connection) {
  const LinkId id(connection->Id());
  spdlog::debug("link opened link={} remote={}", id.value, connection->Remote());
  const MonoTime now = clock_.Read().mono;
  if (keys_.size() > 2 * links_.size() + kKeysUntilSwept) SweepKeys(now);
  OfKey& of_key =
      keys_.try_emplace(connection->PeerKey(), Allowance(kMostAtOnce, kMostPerSecond, now))
          .first->second;
  ++of_key.links;
  if (TurnsAway(*connection, of_key, now)) return connection->Close();
  links_.insert_or_assign(
      id, Link{.connection = std::move(connection), .of_key = &of_key, .heard = now});
  link_count_ = links_.size();
}

bool Gateway::TurnsAway(net::LinkConnection& connection, OfKey& of_key, MonoTime now) {
  if (revoked_(connection.PeerKey()))
    KeepRefusal(of_key, {"revoked", "this host's key was revoked; it gets no more work"});
  std::string_view why;
  if (of_key.links > kMostLinksOfKey) why = "too many of its certificate";
  // Not even a Hello could be heard.
  if (!of_key.allowance.Has(kHelloCost, now)) why = "its certificate has sent too much";
  if (of_key.refusal && now < of_key.refused_until) {
    why = of_key.refusal->message;
    link::ServerFrame frame;
    frame.refusal = of_key.refusal;
    connection.Send(encoder_.Encode(frame));
    if (refused_) refused_(connection.Remote());
  }
  if (why.empty()) return false;
  spdlog::debug("link refused link={} remote={}: {}", connection.Id(), connection.Remote(), why);
  return true;
}

void Gateway::KeepRefusal(OfKey& of_key, const link::Refusal& refusal) const {
  if (refusal.code != "revoked" && refusal.code != "unknown") return;
  of_key.refusal = refusal;
  of_key.refused_until = clock_.Read().mono + kRefusalLasts;
}

void Gateway::SweepKeys(MonoTime now) {
  std::erase_if(keys_, [&](const auto& item) {
    Allowance allowance = item.second.allowance;
    return item.second.links == 0 && allowance.Full(now);
  });
}

void Gateway::OfKey::Offend(MonoTime now) { allowance.Charge(kOffenceCost, now); }

Result<link::NodeFrame> Gateway::Admit(Link& link, const std::string& bytes, MonoTime now) {
  Allowance& allowance = link.of_key->allowance;
  if (!allowance.Charge(PriceOfBytes(bytes.size()), now)) return TooMuch();
  const auto shape = link::MeasureNodeFrame(bytes);
  if (shape && !allowance.Charge(PriceOf(*shape), now)) return TooMuch();
  auto frame = shape ? Decode(link, *shape, bytes) : Fail(shape.error());
  if (!frame) link.of_key->Offend(now);
  return frame;
}

Result<link::NodeFrame> Gateway::Decode(const Link& link, const link::FrameShape& shape,
                                        const std::string& bytes) {
  // Who it is and whether it may stay is judged by its Hello.
  if (!shape.hello && !link.greeted) return Fail(ErrorCode::kDenied, "the node has not said Hello");
  if (!link.welcomed && shape.tasks == 0 && bytes.size() > kMostBeforeWelcome)
    return Fail(ErrorCode::kDenied, "the node sent {} bytes before its Welcome", bytes.size());
  auto frame = link::DecodeNodeFrame(bytes);
  if (!frame) return frame;
  if (const auto fits = CheckFrame(*frame); !fits) return Fail(fits.error());
  return frame;
}

void Gateway::LogClosed(Link& link, const std::string& why) const {
  const auto left_out = link.of_key->closed.Admit(clock_.Read().mono);
  if (!left_out) return;
  const std::string more = *left_out == 0 ? "" : fmt::format(" left_out={}", *left_out);
  spdlog::warn("link closed link={} remote={} reason=\"{}\"{}", link.connection->Id(),
               link.connection->Remote(), why, more);
}

}  // namespace muster::server
