#include "link/judge.hpp"

namespace muster::link {

std::string UnwantedMessage(const Host& host) {
  if (host.state == HostState::kRevoked)
    return fmt::format("host '{}' was revoked; join it again with a new token", host.name);
  return fmt::format(
      "host '{}' gets no work: {}. Is there a second agent with its key, for example on a cloned "
      "machine? Stop one of the two. The one that is left is taken back when no other has spoken "
      "for {}; so is the only one, whose folder was put back from a snapshot: leave it running. "
      "Sooner: join it from an empty data folder, with 'muster agents invite --replace'",
      host.name, host.note, FormatDuration(kAloneFor));
}

HelloJudgement JudgeHello(const Host& host, const Hello& hello, bool asked) {
  if (host.state != HostState::kActive) return {HelloVerdict::kUnwanted, UnwantedMessage(host)};
  if (hello.store.empty() || hello.boot.empty() || hello.session == 0)
    return {HelloVerdict::kStale, "Hello lacks store, boot or session"};
  if (!host.store.empty() && hello.store != host.store)
    return {HelloVerdict::kCopy, "two data folders use one key"};
  if (hello.session > host.session) return {};
  if (hello.session == host.session)
    return {HelloVerdict::kCopy, "two agents use copies of one data folder"};
  if (hello.seen ? *hello.seen != host.session : !asked) return {HelloVerdict::kBehind, ""};
  return {HelloVerdict::kCopy,
          fmt::format("an agent has an older state of its data folder (session {} after {}): a "
                      "copy, or a snapshot that was put back",
                      hello.session, host.session)};
}

UnlistedVerdict JudgeUnlisted(const std::string& sent_store, const std::string& sent_boot,
                              const Hello& hello) {
  return sent_store == hello.store && sent_boot == hello.boot ? UnlistedVerdict::kSendAgain
                                                              : UnlistedVerdict::kLost;
}

}  // namespace muster::link
