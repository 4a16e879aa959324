#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.hpp"

namespace muster::checks {

// Two things on record, or in a node's journal, that cannot both be true.
struct Finding {
  enum class Kind : std::uint8_t {
    kLost,     // something is missing that must have been there
    kDoubled,  // something ran twice, or could have
    kOrder,    // something happened before what it had to wait for
    kStopped,  // something was sent although its run was stopped
    kOpen,     // a run ended, and work of it had not
    kTerms,    // an older leadership wrote or was obeyed after a newer one
    kStray,    // something belongs to nothing that is on record, or to something else
    kLate,     // something was started after its time was over
    kOutcome,  // the record tells another end than the node's journal
  };
  Kind kind = Kind::kLost;
  TaskKey task;  // visit 0: the run as a whole; run 0: no run in particular
  std::string text;
};
std::string_view Name(Finding::Kind kind) noexcept;

// A number of findings, and how many more there were.
class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}

  void Add(Finding finding) {
    if (list_.size() < most_)
      list_.push_back(std::move(finding));
    else
      ++more_;
  }
  const std::vector<Finding>& list() const { return list_; }
  std::uint64_t more() const { return more_; }
  bool Full() const { return list_.size() >= most_; }

 private:
  std::size_t most_;
  std::vector<Finding> list_;
  std::uint64_t more_ = 0;
};

}  // namespace muster::checks
