#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::link {

// "1.4.2", also with something behind it ("1.4.2-rc1", "1.4.2+git"). Empty for anything else.
struct Version {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;

  static std::optional<Version> Parse(std::string_view text);
  friend auto operator<=>(const Version&, const Version&) = default;
};

// How far apart a server and its nodes may be, within one major version. Servers are upgraded
// first, and the fleet may take two releases to follow; a node one release ahead is one that was
// upgraded too early, or a server that went back.
inline constexpr unsigned kMinorsBehind = 2;
inline constexpr unsigned kMinorsAhead = 1;

// Why a server of version `server` does not work with a node of version `node`, in words for the
// operator who reads them in `muster hosts`; nothing when it does. A version that is not a number
// belongs to a build of one's own and is let in.
std::optional<std::string> VersionMisfit(std::string_view server, std::string_view node);

}  // namespace muster::link
