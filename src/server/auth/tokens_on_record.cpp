#include "server/auth/tokens_on_record.hpp"

#include <utility>

namespace muster::server {

PeopleOnRecord::PeopleOnRecord(Store& store, std::string_view admin_token, Ways ways)
    : store_(store), ways_(std::move(ways)), people_(admin_token) {}

void PeopleOnRecord::Look(Then then) {
  waiting_.push_back(std::move(then));
  if (reading_.empty()) Read();
}

void PeopleOnRecord::LookAgain(MonoTime now, Then then) {
  if (looked_again_ && now - *looked_again_ < std::chrono::seconds(1)) return then({});
  Look([this, now, then = std::move(then)](const Result<>& looked) {
    looked_again_ = looked ? std::optional(now) : std::nullopt;
    then(looked);
  });
}

void PeopleOnRecord::Read() {
  reading_ = std::exchange(waiting_, {});
  if (const auto why = ways_.cut_off(); !why.empty())
    return Take(Fail(ErrorCode::kUnavailable, "{}; try again", why));
  const bool posted = ways_.to_worker(
      [this] { ways_.to_loop([this, tokens = store_.ListTokens()] { Take(tokens); }); });
  if (!posted) Take(Fail(ErrorCode::kUnavailable, "the server is too busy; try again shortly"));
}

void PeopleOnRecord::Take(const Result<std::vector<Token>>& tokens) {
  if (tokens)
    people_.Take(*tokens, {}, true);
  else
    people_.Unload();
  for (const auto& then : std::exchange(reading_, {}))
    then(tokens ? Result<>() : Fail(tokens.error()));
  if (!waiting_.empty() && reading_.empty()) Read();
}

}  // namespace muster::server
