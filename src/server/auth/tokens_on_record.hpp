#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ports/store.hpp"
#include "server/auth/authenticator.hpp"

namespace muster::server {

// The holders of tokens for a server that does not lead, and so hears no news of them: read from
// the store for each call, or for all that came while the last reading was under way. A token that
// was revoked before a call came is refused to it. On the loop's thread.
class PeopleOnRecord {
 public:
  struct Ways {
    std::function<bool(std::function<void()>)> to_worker;  // false: there is no room
    std::function<void(std::function<void()>)> to_loop;
    // Why the store is known not to answer; "" when it may. Then nobody waits for it.
    std::function<std::string()> cut_off = [] { return std::string(); };
  };
  using Then = std::function<void(Result<>)>;

  // `store` must outlive it, and it what it hands to the ways.
  PeopleOnRecord(Store& store, std::string_view admin_token, Ways ways);

  // Reads, then calls `then`, after which people() are those of a moment after this call; or, when
  // they cannot be read, nobody but the admin of this server.
  void Look(Then then);
  // The same for a caller who was let in and is still answered, but people who were read for such a
  // caller within the last second will do: an answer may have thousands of pieces a second.
  void LookAgain(MonoTime now, Then then);
  const Authenticator& people() const { return people_; }

 private:
  void Read();
  void Take(const Result<std::vector<Token>>& tokens);

  Store& store_;
  const Ways ways_;
  Authenticator people_;
  std::vector<Then> reading_;  // whom the reading under way is for
  std::vector<Then> waiting_;  // came since
  std::optional<MonoTime> looked_again_;
};

}  // namespace muster::server
