#include "adapters/net/newcomers.hpp"

#include <algorithm>
#include <utility>

namespace muster::net {

Newcomers::Newcomers(std::size_t places) : places_(std::max<std::size_t>(places, 1)) {}

// A source is found in the sets by its numbers, so they change only in here.
template <typename Change>
void Newcomers::Update(NewcomerSource& source, Change change) {
  by_inside_.erase({source.inside, source.turn, &source});
  by_outside_.erase({source.Outside(), source.turn, &source});
  change();
  if (!source.waiting.empty()) by_inside_.insert({source.inside, source.turn, &source});
  if (source.Outside() > 0) by_outside_.insert({source.Outside(), source.turn, &source});
}

void Newcomers::Came(Newcomer& newcomer, const std::string& name) {
  const auto [at, is_new] = sources_.try_emplace(name);
  NewcomerSource& source = at->second;
  if (is_new) {
    source.name = name;
    source.turn = next_turn_++;
  }
  newcomer.source_ = &source;
  newcomer.state_ = Newcomer::State::kSilent;
  ++size_;
  Update(source, [&] { source.silent.push_back(newcomer); });
}

void Newcomers::Spoke(Newcomer& newcomer) {
  NewcomerSource& source = *newcomer.source_;
  Update(source, [&] {
    Detach(newcomer);
    source.waiting.push_back(newcomer);
    newcomer.state_ = Newcomer::State::kWaiting;
    ++waiting_;
  });
}

void Newcomers::Left(Newcomer& newcomer) {
  NewcomerSource& source = *newcomer.source_;
  Update(source, [&] { Detach(newcomer); });
  newcomer.source_ = nullptr;
  --size_;
  if (source.Outside() + source.inside == 0) sources_.erase(std::string(source.name));
}

void Newcomers::Detach(Newcomer& newcomer) {
  NewcomerSource& source = *newcomer.source_;
  switch (std::exchange(newcomer.state_, Newcomer::State::kNone)) {
    case Newcomer::State::kNone:
      return;
    case Newcomer::State::kSilent:
      source.silent.erase(NewcomerSource::List::s_iterator_to(newcomer));
      return;
    case Newcomer::State::kWaiting:
      source.waiting.erase(NewcomerSource::List::s_iterator_to(newcomer));
      --waiting_;
      return;
    case Newcomer::State::kInside:
      --source.inside;
      --inside_;
      return;
  }
}

Newcomer* Newcomers::Next() {
  if (by_inside_.empty()) return nullptr;
  NewcomerSource& source = *by_inside_.begin()->source;
  const std::size_t share = std::max<std::size_t>(places_ / sources_.size(), 1);
  if (inside_ >= places_ && (source.inside >= share || inside_ >= 2 * places_)) return nullptr;
  const bool newest = std::exchange(source.newest_is_next, !source.newest_is_next);
  Newcomer& next = newest ? source.waiting.back() : source.waiting.front();
  Update(source, [&] {
    Detach(next);
    next.state_ = Newcomer::State::kInside;
    source.turn = next_turn_++;
    ++source.inside;
    ++inside_;
  });
  return &next;
}

Newcomer* Newcomers::ToGiveWay(const std::string& name) {
  if (by_outside_.empty()) return nullptr;
  NewcomerSource& largest = *by_outside_.rbegin()->source;
  if (!largest.silent.empty()) return &largest.silent.front();
  const auto own = sources_.find(name);
  if (own != sources_.end() && own->second.Outside() >= largest.Outside()) return nullptr;
  return &largest.waiting.back();
}

bool Newcomers::HurriesUp(const Newcomer& newcomer) const {
  switch (newcomer.state()) {
    case Newcomer::State::kSilent:
      return size_ > places_;
    case Newcomer::State::kInside:
      return waiting_ > 0;
    case Newcomer::State::kNone:
    case Newcomer::State::kWaiting:
      return false;
  }
  return false;
}

std::pair<std::string, std::size_t> Newcomers::Largest() const {
  if (by_outside_.empty()) return {};
  const NewcomerSource& largest = *by_outside_.rbegin()->source;
  return {largest.name, largest.Outside() + largest.inside};
}

}  // namespace muster::net
