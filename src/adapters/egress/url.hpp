#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::outside {

// A url taken apart by the same code that will call it, so that what is checked is what is used:
// dots in the path are resolved, the host is lower case without a final dot, and numbers that stand
// for an IPv4 address ("2130706433") are written as one.
struct Url {
  std::string scheme;
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string path;  // as sent, percent-encoding kept; begins with '/'
  std::string query;

  std::string Origin() const;  // "https://example.com:8443", without a default port
  std::string Bare() const;    // without its query, where tokens hide: for messages
  std::string Text() const;
};

// http, https, smtp, smtps. kInvalid: no url, another scheme, a host that is not ASCII, or a user
// and password in it (they belong into a header, where they can be secret). Messages do not repeat
// the url.
Result<Url> ParseUrl(std::string_view text);

// Where a relative or absolute Location leads.
Result<Url> ParseUrl(std::string_view text, const Url& base);

}  // namespace muster::outside
