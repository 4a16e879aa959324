#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/ids.hpp"
#include "engine/effects.hpp"

namespace muster::server {

// Who waits for an answer of the engine, and until when. Each is given out once, to be called by
// whoever took it. Not safe from several threads.
class OwedAnswers {
 public:
  using OnAnswer = std::function<void(Result<engine::AnyAnswer>)>;

  // Times to wait until must not go back from one call to the next.
  RequestId Owe(OnAnswer on_answer, MonoTime until);

  OnAnswer Take(RequestId request);              // empty when nobody waits for it any more
  std::vector<OnAnswer> TakeLate(MonoTime now);  // those whose time has come
  std::vector<OnAnswer> TakeAll();

  MonoTime NextLate() const noexcept;  // kNever when nobody waits
  std::size_t Count() const noexcept { return waiting_.size(); }

 private:
  struct Waiting {
    OnAnswer on_answer;
    MonoTime until;
  };

  std::uint64_t next_ = 1;
  std::map<RequestId, Waiting> waiting_;  // oldest first
};

}  // namespace muster::server
