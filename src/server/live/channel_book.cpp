#include "server/live/channel_book.hpp"

#include <variant>

#include "base/text.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kMostTrouble = 300;
constexpr std::size_t kMostOfRun = 100;

}  // namespace

void ChannelBook::Take(const Batch& committed) {
  base::Lock lock(mutex_);
  for (const auto& change : committed.changes) {
    if (const auto* put = std::get_if<PutNotice>(&change)) TakeOne(*put);
    if (const auto* drop = std::get_if<DropNotice>(&change)) TakeOne(*drop);
  }
}

void ChannelBook::Load(const std::vector<OpenNotice>& notices, WallTime now) {
  base::Lock lock(mutex_);
  undelivered_.clear();
  by_age_.clear();
  trouble_.clear();
  channels_.clear();
  since_ = now;
  for (const auto& notice : notices) TakeOne(PutNotice{notice});
}

void ChannelBook::TakeOne(const PutNotice& put) {
  const OpenNotice& notice = put.notice;
  if (notice.attempts == 0) return;
  const Key key(notice.run, notice.visit);
  const auto trouble = trouble_.find(key);
  undelivered_[key] = {.channel = notice.channel,
                       .state = notice.state,
                       .made = notice.made,
                       .attempts = notice.attempts,
                       .next = notice.next,
                       .trouble = trouble == trouble_.end() ? "" : trouble->second};
  by_age_.emplace(notice.made, key);
  channels_[notice.channel].undelivered.emplace(notice.made, key);
}

void ChannelBook::TakeOne(const DropNotice& drop) {
  const Key key(drop.run, drop.visit);
  trouble_.erase(key);
  const auto found = undelivered_.find(key);
  if (found == undelivered_.end()) return;
  const auto age = std::pair(found->second.made, key);
  by_age_.erase(age);
  channels_[found->second.channel].undelivered.erase(age);
  undelivered_.erase(found);
}

void ChannelBook::TakeAttempt(const std::string& channel, const std::optional<TaskKey>& notice,
                              const ServerOutcome& outcome, WallTime now) {
  const bool delivered = outcome.state == TaskState::kSucceeded;
  std::string reason = outcome.reason;
  CutText(reason, kMostTrouble);
  base::Lock lock(mutex_);
  if (!since_) return;  // it never led
  Tally& tally = channels_[channel];
  if (delivered) tally.delivered = now;
  tally.last = {.at = now, .delivered = delivered, .reason = reason};
  if (notice && !delivered) trouble_[{notice->run, notice->visit}] = std::move(reason);
}

ChannelBook::Channel ChannelBook::Find(const std::string& channel) const {
  base::Lock lock(mutex_);
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return {};
  const Tally& tally = found->second;
  return {.undelivered = tally.undelivered.size(),
          .oldest = tally.undelivered.empty() ? WallTime{} : tally.undelivered.begin()->first,
          .delivered = tally.delivered,
          .last = tally.last};
}

ChannelBook::Totals ChannelBook::Sum() const {
  base::Lock lock(mutex_);
  return {.undelivered = by_age_.size(),
          .oldest = by_age_.empty() ? WallTime{} : by_age_.begin()->first};
}

std::vector<ChannelBook::Undelivered> ChannelBook::OfRun(RunId run) const {
  std::vector<Undelivered> list;
  base::Lock lock(mutex_);
  for (auto at = undelivered_.lower_bound({run, Visit(0)});
       at != undelivered_.end() && at->first.first == run && list.size() < kMostOfRun; ++at)
    list.push_back(at->second);
  return list;
}

WallTime ChannelBook::Since() const {
  base::Lock lock(mutex_);
  return since_;
}

}  // namespace muster::server
