#include "fleet/fleet.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>

#include "adapters/crypto/digest.hpp"
#include "adapters/files/own_folder.hpp"
#include "agent/daemon/join.hpp"
#include "base/mutex.hpp"
#include "base/text.hpp"

namespace muster::fleet {
namespace {

constexpr int kJoinThreads = 4;
// Every host beats once in this time, spread evenly.
constexpr std::int64_t kBeatRoundMs = 8000;
constexpr std::int64_t kBeatStepMs = 100;

// The parts of an identity in one file, separated by a line that PEM cannot hold.
constexpr std::string_view kSeparator = "\n%%\n";
constexpr std::size_t kParts = 5;  // an older version had no cluster

}  // namespace

Fleet::Fleet(net::EventLoop& loop, FleetOptions options)
    : loop_(loop),
      options_(std::move(options)),
      boot_("emulated-" + ToHex(crypto::RandomBytes(8))) {
  options_.pretence.totals = PretendedTotals("", options_.pretence.conduct.output_bytes, "");
}

Result<EmulatedHost::Identity> Fleet::JoinOne(std::uint32_t index) const {
  const std::string name = fmt::format("{}{}", options_.prefix, index + 1);
  if (!options_.data.empty())
    if (auto known = LoadOne(name); known || known.error().code != ErrorCode::kNotFound)
      return known;
  agent::JoinOptions join;
  join.servers = options_.servers;
  std::ranges::rotate(join.servers, join.servers.begin() + index % join.servers.size());
  join.token = options_.join;
  join.name = name;
  join.labels = options_.labels;
  auto joined = agent::Join(join);
  if (!joined) return Fail(joined.error());
  if (joined->waits)
    return Fail(ErrorCode::kConflict, "{}; make the token with --replace", joined->message);
  EmulatedHost::Identity identity{.name = joined->host,
                                  .key_pem = std::move(joined->key_pem),
                                  .cert_pem = std::move(joined->cert_pem),
                                  .ca_pem = std::move(joined->ca_pem),
                                  .store = ToHex(crypto::RandomBytes(16)),
                                  .cluster = std::move(joined->cluster)};
  if (!options_.data.empty())
    if (const auto saved = SaveOne(identity); !saved) return Fail(saved.error());
  return identity;
}

Result<EmulatedHost::Identity> Fleet::LoadOne(const std::string& name) const {
  const auto path = options_.data / (name + ".host");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorCode::kNotFound, "{} has not joined yet", name);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t at = text.find(kSeparator); at != std::string::npos;
       at = text.find(kSeparator, start)) {
    parts.push_back(text.substr(start, at - start));
    start = at + kSeparator.size();
  }
  if (parts.size() != kParts)
    return Fail(ErrorCode::kInvalid, "{} {}; remove it and join again", path.string(),
                parts.size() == kParts - 1 ? "is of an older version" : "is damaged");
  return EmulatedHost::Identity{name, parts[0], parts[1], parts[2], parts[3], parts[4]};
}

Result<> Fleet::SaveOne(const EmulatedHost::Identity& identity) const {
  const auto path = options_.data / (identity.name + ".host");
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  ::chmod(path.c_str(), 0600);
  for (const auto* part : {&identity.key_pem, &identity.cert_pem, &identity.ca_pem, &identity.store,
                           &identity.cluster})
    file << *part << kSeparator;
  file.flush();
  if (!file) return Fail(ErrorCode::kUnavailable, "cannot write {}", path.string());
  return {};
}

Result<> Fleet::Prepare() const {
  for (const auto& server : options_.servers)
    if (const auto endpoint = net::ParseEndpoint(server); !endpoint) return Fail(endpoint.error());
  if (options_.data.empty()) return {};
  return files::MakeOwnFolder(options_.data, 0700);
}

Result<> Fleet::JoinAll() {
  std::vector<EmulatedHost::Identity> identities(options_.count);
  std::atomic<std::uint32_t> next{0};
  base::Mutex mutex;
  Result<> outcome;
  std::vector<std::thread> threads;
  for (int i = 0; i < kJoinThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint32_t index = next++; index < options_.count; index = next++) {
        auto identity = JoinOne(index);
        if (identity) {
          identities[index] = std::move(*identity);
          continue;
        }
        base::Lock lock(mutex);
        if (outcome) outcome = Fail(identity.error());
        next = options_.count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (!outcome) return outcome;
  if (!options_.history.empty()) {
    auto opened = agent::HistoryFile::Open(options_.history);
    if (!opened) return Fail(opened.error());
    history_.emplace(std::move(*opened));
  }
  for (auto& identity : identities) {
    hosts_.push_back(std::make_unique<EmulatedHost>(
        loop_, options_.servers, std::move(identity), options_.pretence, boot_,
        EmulatedHost::Notice{.welcomed =
                                 [this] {
                                   ++online_;
                                   if (connecting_ > 0) --connecting_;
                                   ConnectMore();
                                 },
                             .closed =
                                 [this](bool was_online) {
                                   if (was_online) --online_;
                                   if (!was_online && connecting_ > 0) --connecting_;
                                   ConnectMore();
                                 },
                             .task_ended = [this] { ++tasks_ended_; }},
        tickets_, history_ ? &*history_ : nullptr));
  }
  return {};
}

void Fleet::ConnectAll() {
  ConnectMore();
  loop_.After(Duration(kBeatStepMs), [this] { BeatSome(); });
}

void Fleet::ConnectMore() {
  while (connecting_ < options_.connecting && next_to_connect_ < hosts_.size()) {
    ++connecting_;
    hosts_[next_to_connect_++]->Connect();
  }
}

void Fleet::BeatSome() {
  const std::size_t share = hosts_.size() * static_cast<std::size_t>(kBeatStepMs) /
                                static_cast<std::size_t>(kBeatRoundMs) +
                            1;
  for (std::size_t i = 0; i < share && i < hosts_.size(); ++i) {
    hosts_[next_to_beat_]->Beat();
    next_to_beat_ = (next_to_beat_ + 1) % hosts_.size();
  }
  loop_.After(Duration(kBeatStepMs), [this] { BeatSome(); });
}

}  // namespace muster::fleet
