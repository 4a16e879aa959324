#include "adapters/net/page_guard.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/loopback.hpp"
#include "base/visible.hpp"

namespace muster::net {
namespace {

constexpr std::size_t kMostShown = 100;  // bytes of a header

// A header's value as an answer and the log may show it.
std::string Shown(std::string_view value) {
  return VisibleLine(value.substr(0, kMostShown)) + (value.size() > kMostShown ? "…" : "");
}

bool SameName(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool IsPort(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "name", "name:port", "[v6]", "[v6]:port"; nothing when it is none of these.
std::optional<std::string_view> HostOf(std::string_view authority) noexcept {
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
  } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (!rest.empty() && (rest.front() != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
  return host;
}

bool IsNamed(std::string_view authority, const std::vector<std::string>& names) {
  const auto host = HostOf(authority);
  return host &&
         std::ranges::any_of(names, [&](const std::string& name) { return SameName(*host, name); });
}

bool IsOwnHost(std::string_view authority, const std::vector<std::string>& names) {
  const auto host = HostOf(authority);
  return host && (IsLoopback(*host) || IsNamed(authority, names));
}

// A page that this server gave out itself, also through a proxy.
bool IsOwnOrigin(std::string_view origin, const RequestSource& source,
                 const std::vector<std::string>& names) {
  const auto scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  const auto authority = origin.substr(scheme + 3);
  return IsNamed(authority, names) || std::ranges::any_of(source.hosts, [&](std::string_view host) {
           return SameName(authority, host);
         });
}

}  // namespace

std::optional<SourceProblem> CheckSource(const RequestSource& source,
                                         const std::vector<std::string>& names) {
  const auto own_host = [&](std::string_view host) { return IsOwnHost(host, names); };
  if (const auto other = std::ranges::find_if_not(source.hosts, own_host);
      !source.tls && other != source.hosts.end())
    return SourceProblem{
        421, fmt::format("this server does not answer to the name '{}' over plain HTTP; use "
                         "localhost or https, or set public_url to that name",
                         Shown(HostOf(*other).value_or(*other)))};
  if (source.link && !source.origins.empty())
    return SourceProblem{403, "links are for agents and servers, not for web pages"};
  const auto own_origin = [&](std::string_view origin) {
    return IsOwnOrigin(origin, source, names);
  };
  if (const auto other = std::ranges::find_if_not(source.origins, own_origin);
      other != source.origins.end())
    return SourceProblem{
        403, fmt::format("requests from web pages of other sites are refused (Origin: {})",
                         Shown(*other))};
  return std::nullopt;
}

}  // namespace muster::net
