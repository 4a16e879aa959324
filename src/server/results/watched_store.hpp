#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "ports/forwarding_store.hpp"

namespace muster::server {

// Tells of what the engine's commits made durable, before the engine hears of it. The functions
// outlive it, come from any thread and must be quick.
class WatchedStore final : public ForwardingStore {
 public:
  struct Watch {
    std::function<void(const Batch&)> committed;
    std::function<void()> loading;  // a leader begins: others may have written meanwhile
    std::function<void(const Snapshot&)> loaded = {};  // what it begins with
  };

  WatchedStore(Store& next, Watch watch) : ForwardingStore(next), watch_(std::move(watch)) {}

  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override {
    auto told = [this, batch, done = std::move(done)](Result<> result) {
      if (result) watch_.committed(*batch);
      done(std::move(result));
    };
    Next().Commit(std::move(batch), term, number, std::move(told));
  }

  Result<Snapshot> Load(Term term) override {
    watch_.loading();
    auto snapshot = Next().Load(term);
    if (snapshot && watch_.loaded) watch_.loaded(*snapshot);
    return snapshot;
  }

 private:
  const Watch watch_;
};

}  // namespace muster::server
