#include "link/server_choice.hpp"

#include <algorithm>
#include <utility>

namespace muster::link {
namespace {

// A welcome that did not last so long is no success: servers that welcome and close in turn must
// not be tried in a circle without a pause.
constexpr Duration kSettled = std::chrono::seconds(5);

// FNV-1a, mixed once more so that similar addresses come out in unrelated order. Written down here
// because it must be the same in every version: else an upgrade would move the whole fleet.
std::uint64_t Hash(std::string_view seed, std::string_view server) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(seed);
  add("\n");
  add(server);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

void Tidy(std::vector<std::string>& servers) {
  std::ranges::sort(servers);
  servers.erase(std::ranges::unique(servers).begin(), servers.end());
}

}  // namespace

ServerChoice::ServerChoice(std::string seed, std::vector<std::string> given,
                           std::vector<std::string> told, std::vector<std::string> welcome)
    : seed_(std::move(seed)),
      given_(std::move(given)),
      told_(std::move(told)),
      welcome_(welcome.begin(), welcome.end()),
      last_(welcome.empty() ? "" : welcome.front()) {
  Tidy(told_);
  Arrange();
  if (!order_.empty()) current_ = order_.front();
}

bool ServerChoice::IsTested(const std::string& server) const {
  return welcome_.contains(server) || std::ranges::find(given_, server) != given_.end();
}

void ServerChoice::Arrange() {
  const auto by_hash = [this](const std::string& a, const std::string& b) {
    return std::pair(Hash(seed_, a), a) < std::pair(Hash(seed_, b), b);
  };
  auto others = given_;
  Tidy(others);
  std::erase_if(others, [this](const auto& one) { return std::ranges::binary_search(told_, one); });
  order_ = told_;
  std::ranges::sort(order_, by_hash);
  std::ranges::sort(others, by_hash);
  order_.insert(order_.end(), others.begin(), others.end());
  if (!last_.empty() && std::ranges::find(order_, last_) == order_.end()) order_.push_back(last_);
  std::vector<std::string> untested;
  for (const auto& server : order_)
    if (!IsTested(server)) untested.push_back(server);
  if (untested.size() <= kUntested) return;
  // As many of them as a round has, from where the last one ended.
  std::ranges::rotate(
      untested, untested.begin() + static_cast<std::ptrdiff_t>(untested_from_ % untested.size()));
  const std::set<std::string> left_out(untested.begin() + kUntested, untested.end());
  std::erase_if(order_, [&](const std::string& server) { return left_out.contains(server); });
}

bool ServerChoice::Told(std::vector<std::string> servers) {
  Tidy(servers);
  if (servers.empty() || servers == told_) return false;
  told_ = std::move(servers);
  untested_from_ = 0;
  Arrange();
  return true;
}

bool ServerChoice::Welcomed(std::int64_t now) {
  welcomed_ = now;
  backoff_.Reset();
  const bool news = std::exchange(last_, current_) != current_;
  if (!news && untested_from_ == 0) return false;
  welcome_.insert(current_);
  untested_from_ = 0;
  Arrange();
  return news;
}

Duration ServerChoice::Lost(std::int64_t now, std::uint64_t random) {
  if (const auto since = std::exchange(welcomed_, {}); since && now - *since >= kSettled.count()) {
    failures_ = 0;
    went_round_ = false;
  }
  const auto at = std::ranges::find(order_, current_);
  // One that is no longer among them is followed by the first.
  current_ = at == order_.end() || at + 1 == order_.end() ? order_.front() : *(at + 1);
  if (++failures_ < order_.size()) return Duration::zero();
  failures_ = 0;
  went_round_ = true;
  NextRound();
  return backoff_.Next(random);
}

// It begins with one that is tested: a server that was only away is then found before more of the
// others are waited for.
void ServerChoice::NextRound() {
  const auto before = order_;
  untested_from_ += kUntested;
  Arrange();
  if (order_ == before) return;
  const auto tested =
      std::ranges::find_if(order_, [this](const std::string& server) { return IsTested(server); });
  current_ = tested == order_.end() ? order_.front() : *tested;
}

}  // namespace muster::link
