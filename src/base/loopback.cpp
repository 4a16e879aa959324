#include "base/loopback.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>

namespace muster {
namespace {

bool IsLocalhost(std::string_view host) noexcept {
  constexpr std::string_view kName = "localhost";
  return std::ranges::equal(host, kName, [](char given, char known) {
    return given == known || (given >= 'A' && given <= 'Z' && given - 'A' + 'a' == known);
  });
}

}  // namespace

bool IsLoopback(std::string_view host) noexcept {
  if (IsLocalhost(host)) return true;
  if (host.size() >= INET6_ADDRSTRLEN) return false;
  char text[INET6_ADDRSTRLEN] = {};
  std::ranges::copy(host, text);
  // A zero byte within would hide what follows it.
  if (host.contains('\0')) return false;
  in_addr v4{};
  if (inet_pton(AF_INET, text, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace muster
