#include "link/judge.hpp"

namespace muster::link {

std::string UnwantedMessage(const Host& host) {
  if (host.state == HostState::kRevoked)
    return fmt::format("host '{}' was revoked; join it again with a new token", host.name);
  return fmt::format(
      "host '{}': {}; stop one of the two agents, then join the other again from an empty data "
      "folder with "
      "'muster agents invite --replace'",
      host.name, host.note);
}

HelloJudgement JudgeHello(const Host& host, const Hello& hello, bool newer_link) {
  if (host.state != HostState::kActive) return {HelloVerdict::kUnwanted, UnwantedMessage(host)};
  if (hello.store.empty() || hello.boot.empty() || hello.session == 0)
    return {HelloVerdict::kStale, "Hello lacks store, boot or session"};
  if (!host.store.empty() && hello.store != host.store)
    return {HelloVerdict::kCopy, "two data folders use one key"};
  if (hello.session == host.session || (hello.session < host.session && newer_link))
    return {HelloVerdict::kCopy, "two agents use copies of one data folder"};
  if (hello.session < host.session)
    return {HelloVerdict::kStale,
            fmt::format("session {} is older than {}", hello.session, host.session)};
  return {};
}

UnlistedVerdict JudgeUnlisted(const std::string& sent_store, const std::string& sent_boot,
                              const Hello& hello) {
  return sent_store == hello.store && sent_boot == hello.boot ? UnlistedVerdict::kSendAgain
                                                              : UnlistedVerdict::kLost;
}

}  // namespace muster::link
