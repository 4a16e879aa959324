#include "link/version.hpp"

#include <charconv>

#include <fmt/format.h>

namespace muster::link {

std::optional<Version> Version::Parse(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  unsigned* const parts[] = {&version.major, &version.minor, &version.patch};
  for (unsigned* part : parts) {
    if (part != parts[0] && (at == end || *at++ != '.')) return std::nullopt;
    const auto [next, problem] = std::from_chars(at, end, *part);
    if (problem != std::errc{}) return std::nullopt;
    at = next;
  }
  if (at != end && *at != '-' && *at != '+') return std::nullopt;
  return version;
}

std::optional<std::string> VersionMisfit(std::string_view server, std::string_view node) {
  const auto ours = Version::Parse(server);
  const auto theirs = Version::Parse(node);
  if (!ours || !theirs) return std::nullopt;
  const auto say = [&](std::string_view what) {
    return fmt::format("agent {} does not work with server {}: {}", node, server, what);
  };
  if (theirs->major != ours->major)
    return say(theirs->major < ours->major ? "upgrade the agent" : "upgrade the server");
  if (theirs->minor + kMinorsBehind < ours->minor)
    return say(
        fmt::format("it is more than {} minor versions behind; upgrade the agent", kMinorsBehind));
  if (theirs->minor > ours->minor + kMinorsAhead)
    return say(
        fmt::format("it is more than {} minor version ahead; upgrade the server", kMinorsAhead));
  return std::nullopt;
}

}  // namespace muster::link
