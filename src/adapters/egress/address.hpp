#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace muster::outside {

// An IP address as 16 bytes. IPv4 is kept as ::ffff:a.b.c.d, and so are the IPv6 addresses that
// translators turn back into IPv4 (64:ff9b::/96): they reach the same machine.
struct Address {
  std::array<std::uint8_t, 16> bytes{};

  bool IsV4() const noexcept;
  std::string Text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

std::optional<Address> ParseAddress(std::string_view text);         // "10.1.2.3", "fd00::1"
std::optional<Address> AddressOf(const sockaddr& socket) noexcept;  // nothing unless IPv4 or IPv6

// Whether anybody on the Internet would reach the same machine under it: not loopback, private,
// link-local (cloud metadata at 169.254.169.254), shared, multicast, reserved or for documentation;
// nor Azure's platform at 168.63.129.16.
bool IsPublic(const Address& address) noexcept;

// A block of addresses: "10.0.0.0/8", "fd00::/8", or a single one.
struct Network {
  Address address;
  unsigned bits = 128;  // of the 16 bytes

  bool Holds(const Address& other) const noexcept;
  std::string Text() const;
  friend bool operator==(const Network&, const Network&) = default;
};
std::optional<Network> ParseNetwork(std::string_view text);

}  // namespace muster::outside
