#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/mutex.hpp"
#include "ports/coordinator.hpp"
#include "support/eventually.hpp"

namespace muster {

// Coordinators of one cluster, and the power to take its leadership away.
struct Cluster {
  std::function<std::unique_ptr<Coordinator>()> join;
  // Returns when whoever led has lost it, and another leads where there is one.
  std::function<void()> depose;
  bool leases = false;  // a leadership lasts until a moment that moves on
};

struct CoordinatorAdapter {
  std::string name;
  std::function<Cluster()> make;

  friend std::ostream& operator<<(std::ostream& out, const CoordinatorAdapter& adapter) {
    return out << adapter.name;
  }
};

using Told = std::vector<std::string>;

// Writes down what candidates are told, and what a test does in between: a service that is asked
// over a network answers later, so tests look at the order of things and wait for the last of them.
class CoordinatorContract : public testing::TestWithParam<CoordinatorAdapter> {
 protected:
  Result<> Campaign(Coordinator& coordinator, const std::string& name) {
    return coordinator.Campaign(
        name, [this, name] { Note(name + " elected"); }, [this, name] { Note(name + " lost"); });
  }

  void Note(const std::string& what) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    told_.push_back(what);
  }
  Told All() const EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return told_;
  }

  // Waits until so much was told, and says what it was.
  Told Await(std::size_t count) const {
    Eventually([&] { return All().size() >= count; });
    return All();
  }
  static bool AwaitLeader(const Coordinator& coordinator, const std::string& name) {
    return Eventually([&] { return coordinator.Leader() == name; });
  }
  static bool AwaitMembers(const Coordinator& coordinator, const std::vector<Member>& members) {
    return Eventually([&] { return coordinator.Members() == members; });
  }

  Cluster cluster_ = GetParam().make();

 private:
  mutable base::Mutex mutex_;
  Told told_ GUARDED_BY(mutex_);
};

}  // namespace muster
