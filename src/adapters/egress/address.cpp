#include "adapters/egress/address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace muster::outside {
namespace {

constexpr unsigned kV4Begins = 96;  // bits before an IPv4 address
constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 12> kTranslated = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

// From the registries of special addresses (RFC 6890 and its updates), and one that Azure gives to
// the host under each of its machines: it answers there with certificates and keys.
constexpr std::array<std::string_view, 16> kSpecialV4 = {
    "0.0.0.0/8",      "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16", "172.16.0.0/12",  "192.0.0.0/24",  "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",   "168.63.129.16"};
// Only 2000::/3 is given out for general use; inside it these are not, or lead elsewhere (2002::/16
// carries an IPv4 address).
constexpr std::array<std::string_view, 4> kSpecialV6 = {"2001::/23", "2001:db8::/32", "2002::/16",
                                                        "3fff::/20"};

Address FromV4(const void* four) noexcept {
  Address address;
  std::ranges::copy(kMapped, address.bytes.begin());
  std::memcpy(address.bytes.data() + kMapped.size(), four, 4);
  return address;
}

Address FromV6(const void* sixteen) noexcept {
  Address address;
  std::memcpy(address.bytes.data(), sixteen, address.bytes.size());
  if (std::equal(kTranslated.begin(), kTranslated.end(), address.bytes.begin()))
    std::ranges::copy(kMapped, address.bytes.begin());
  return address;
}

template <std::size_t N>
bool AnyHolds(const std::array<std::string_view, N>& networks, const Address& address) noexcept {
  return std::ranges::any_of(networks, [&](std::string_view text) {
    const auto network = ParseNetwork(text);
    return network && network->Holds(address);
  });
}

}  // namespace

bool Address::IsV4() const noexcept {
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

std::string Address::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IsV4())
    inet_ntop(AF_INET, bytes.data() + kMapped.size(), text.data(), text.size());
  else
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string whole(text);
  in_addr four{};
  if (inet_pton(AF_INET, whole.c_str(), &four) == 1) return FromV4(&four);
  in6_addr six{};
  if (inet_pton(AF_INET6, whole.c_str(), &six) == 1) return FromV6(&six);
  return std::nullopt;
}

std::optional<Address> AddressOf(const sockaddr& socket) noexcept {
  if (socket.sa_family == AF_INET)
    return FromV4(&reinterpret_cast<const sockaddr_in&>(socket).sin_addr);
  if (socket.sa_family == AF_INET6)
    return FromV6(&reinterpret_cast<const sockaddr_in6&>(socket).sin6_addr);
  return std::nullopt;
}

bool IsPublic(const Address& address) noexcept {
  if (address.IsV4()) return !AnyHolds(kSpecialV4, address);
  const bool unicast = (address.bytes[0] & 0xe0) == 0x20;
  return unicast && !AnyHolds(kSpecialV6, address);
}

bool Network::Holds(const Address& other) const noexcept {
  const unsigned whole = bits / 8;
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + whole, other.bytes.begin()))
    return false;
  const unsigned rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (address.bytes[whole] & mask) == (other.bytes[whole] & mask);
}

std::string Network::Text() const {
  const unsigned before = address.IsV4() ? kV4Begins : 0;
  if (bits == 128) return address.Text();
  return address.Text() + "/" + std::to_string(bits - before);
}

std::optional<Network> ParseNetwork(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Network{*address};
  // A v6 block of mapped addresses would have two readings of its length.
  const bool v4 = address->IsV4();
  if (v4 && text.find(':') != std::string_view::npos) return std::nullopt;
  const auto number = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), bits);
  if (problem != std::errc{} || end != number.data() + number.size() || bits > (v4 ? 32U : 128U))
    return std::nullopt;
  return Network{*address, v4 ? bits + kV4Begins : bits};
}

}  // namespace muster::outside
