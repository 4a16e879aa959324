#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/egress/address.hpp"
#include "adapters/egress/url.hpp"
#include "base/result.hpp"

// Which addresses the server may call by itself. A url comes from a job, a job from a person who
// may not be allowed to reach what the server can reach: so both the url and the address its name
// resolved to are held against these rules, the second for each connection.
namespace muster::outside {

// One entry of a list:
//   public                              every public address
//   10.20.0.0/16, fd00::/8, 10.1.2.3    these addresses, under any name
//   hooks.example.com, *.example.com    this host, on public addresses; :PORT for that port only
//   https://api.example.com/v1/*        urls of this form, likewise; * and ? match anything
//   NAME-OR-URL@10.20.0.0/16            the same on these addresses, private ones too
// A name alone never opens a private address: whoever controls the name would choose which.
class Rule {
 public:
  static Result<Rule> Parse(std::string_view text);

  // Whether it speaks of this url at all, whatever the address.
  bool Names(const Url& url) const;
  // As an allowance: the path is taken as written.
  bool Allows(const Url& url, const Address& address) const;
  // As a denial: a name or url alone is meant on every address, an address under every name, and a
  // path in every spelling that some servers read as it.
  bool Denies(const Url& url, const Address& address) const;
  bool DeniesEverywhere(const Url& url) const { return !network_ && !public_ && DeniesUrl(url); }

 private:
  bool MeetsPlace(const Url& url) const noexcept;  // scheme and port
  bool DeniesHost(const std::string& host) const;
  bool DeniesPath(const Url& url) const;
  bool DeniesUrl(const Url& url) const;

  bool public_ = false;
  std::string host_;                // pattern; "" is any
  std::optional<Address> address_;  // of the host, if it is written as one
  std::optional<std::uint16_t> port_;
  std::string scheme_;  // "" is any
  std::string path_;    // pattern; "" is any
  std::optional<Network> network_;
};

// The lists together. Denials win.
class Rules {
 public:
  // kInvalid names the entry that cannot be read.
  static Result<Rules> Parse(const std::vector<std::string>& allow,
                             const std::vector<std::string>& deny);

  // Before anything is resolved: kDenied when no address at all would do.
  Result<> Check(const Url& url) const;
  // Before a connection is made.
  Result<> Check(const Url& url, const Address& address) const;

 private:
  std::vector<Rule> allow_;
  std::vector<Rule> deny_;
};

}  // namespace muster::outside
