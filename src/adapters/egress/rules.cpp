#include "adapters/egress/rules.hpp"

#include <algorithm>
#include <charconv>

#include "adapters/egress/path.hpp"
#include "base/text.hpp"
#include "domain/host.hpp"

namespace muster::outside {
namespace {

constexpr std::string_view kPublic = "public";

struct Place {
  std::string host;
  std::optional<std::uint16_t> port;
};

// "name", "name:port", "[v6]:port".
std::optional<Place> ParsePlace(std::string_view text) {
  Place place;
  const auto bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const auto number = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (problem != std::errc{} || end != number.data() + number.size() || port == 0)
      return std::nullopt;
    place.port = port;
    text = text.substr(0, colon);
  }
  if (bracket != std::string_view::npos) text = text.substr(1, bracket - 1);
  for (const char c : text) place.host += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (place.host.ends_with('.')) place.host.pop_back();
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
           c == '*' || c == '?' || c == ':';
  };
  if (place.host.empty() || !std::ranges::all_of(place.host, fits)) return std::nullopt;
  return place;
}

std::unexpected<Error> NoRule(std::string_view text) {
  return Fail(ErrorCode::kInvalid,
              "'{}' is none of: public, a network like 10.0.0.0/8, a host like *.example.com or "
              "example.com:8443, a url like https://example.com/v1/*, either of the last two "
              "followed by @ and a network",
              text);
}

bool IsScheme(std::string_view text) noexcept {
  return text == "http" || text == "https" || text == "smtp" || text == "smtps";
}

}  // namespace

Result<Rule> Rule::Parse(std::string_view text) {
  Rule rule;
  if (text == kPublic) {
    rule.public_ = true;
    return rule;
  }
  if ((rule.network_ = ParseNetwork(text))) return rule;
  std::string_view rest = text;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    if (!(rule.network_ = ParseNetwork(rest.substr(at + 1)))) return NoRule(text);
    rest = rest.substr(0, at);
  }
  if (const auto scheme = rest.find("://"); scheme != std::string_view::npos) {
    rule.scheme_ = rest.substr(0, scheme);
    if (!IsScheme(rule.scheme_)) return NoRule(text);
    rest = rest.substr(scheme + 3);
    const auto slash = rest.find('/');
    if (slash != std::string_view::npos) rule.path_ = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  auto place = ParsePlace(rest);
  if (!place) return NoRule(text);
  rule.host_ = std::move(place->host);
  rule.port_ = place->port;
  if (!rule.scheme_.empty() && !rule.port_)
    rule.port_ = ParseUrl(rule.scheme_ + "://x").value_or(Url{}).port;
  // An address written as a host is its own network.
  rule.address_ = ParseAddress(rule.host_);
  if (rule.address_ && !rule.network_) rule.network_ = Network{*rule.address_};
  return rule;
}

bool Rule::MeetsPlace(const Url& url) const noexcept {
  return (scheme_.empty() || scheme_ == url.scheme) && (!port_ || *port_ == url.port);
}

bool Rule::Names(const Url& url) const {
  if (!MeetsPlace(url)) return false;
  const bool host = address_ ? ParseAddress(url.host) == address_
                             : host_.empty() || MatchesPattern(url.host, host_);
  if (!host) return false;
  if (path_.empty()) return true;
  if (IsAmbiguous(url.path)) return false;
  // Else the end of a pattern could be found in a query, which the server at a path may ignore.
  const bool with_query = !url.query.empty() && path_.contains('?');
  return MatchesPattern(url.path, path_) ||
         (with_query && MatchesPattern(url.path + "?" + url.query, path_));
}

bool Rule::Allows(const Url& url, const Address& address) const {
  if (!Names(url)) return false;
  return network_ ? network_->Holds(address) : IsPublic(address);
}

bool Rule::DeniesHost(const std::string& host) const {
  // The address that is connected to decides, not the name that led there.
  if (address_ || host_.empty() || MatchesPattern(host, host_)) return true;
  const auto literal = ParseAddress(host);
  return literal && MatchesPattern(literal->Text(), host_);
}

bool Rule::DeniesPath(const Url& url) const {
  // If a path can be read in two ways, the denied reading counts.
  if (path_.empty() || IsAmbiguous(url.path)) return true;
  const auto meets = [&](const std::string& path, const std::string& pattern) {
    const std::string query = InLowerCase(PercentDecoded(url.query));
    return MatchesPattern(path, pattern) ||
           (!query.empty() && MatchesPattern(path + "?" + query, pattern));
  };
  return meets(InLowerCase(url.path), InLowerCase(path_)) ||
         meets(LenientReading(url.path), InLowerCase(PercentDecoded(path_)));
}

bool Rule::DeniesUrl(const Url& url) const {
  return MeetsPlace(url) && DeniesHost(url.host) && DeniesPath(url);
}

bool Rule::Denies(const Url& url, const Address& address) const {
  if (!DeniesUrl(url) || (address_ && *address_ != address)) return false;
  if (network_) return network_->Holds(address);
  return !public_ || IsPublic(address);
}

namespace {

Result<> ReadRules(const std::vector<std::string>& texts, std::vector<Rule>& rules) {
  for (const auto& text : texts) {
    auto rule = Rule::Parse(text);
    if (!rule) return Fail(rule.error());
    rules.push_back(std::move(*rule));
  }
  return {};
}

}  // namespace

Result<Rules> Rules::Parse(const std::vector<std::string>& allow,
                           const std::vector<std::string>& deny) {
  Rules rules;
  if (auto read = ReadRules(allow, rules.allow_); !read) return Fail(read.error());
  if (auto read = ReadRules(deny, rules.deny_); !read) return Fail(read.error());
  return rules;
}

Result<> Rules::Check(const Url& url) const {
  const bool denied =
      std::ranges::any_of(deny_, [&](const Rule& rule) { return rule.DeniesEverywhere(url); });
  const bool named = std::ranges::any_of(allow_, [&](const Rule& rule) { return rule.Names(url); });
  if (named && !denied) return {};
  return Fail(ErrorCode::kDenied, "{} may not be called: {} of the server's settings", url.Origin(),
              denied ? "it is in outside.deny" : "it is not in outside.allow");
}

Result<> Rules::Check(const Url& url, const Address& address) const {
  const auto denies = [&](const Rule& rule) { return rule.Denies(url, address); };
  const auto allows = [&](const Rule& rule) { return rule.Allows(url, address); };
  const bool denied = std::ranges::any_of(deny_, denies);
  if (!denied && std::ranges::any_of(allow_, allows)) return {};
  return Fail(ErrorCode::kDenied, "{} at {} may not be called: {} of the server's settings",
              url.Origin(), address.Text(),
              denied              ? "it is in outside.deny"
              : IsPublic(address) ? "it is not in outside.allow"
                                  : "it is not public and not in outside.allow");
}

}  // namespace muster::outside
