#include "adapters/egress/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <curl/curl.h>
#include <memory>
#include <optional>

#include "base/ascii.hpp"

namespace muster::outside {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using UrlPtr = std::unique_ptr<CURLU, FreeUrl>;

constexpr std::size_t kMostHost = 253;  // of a name that DNS can have

constexpr std::array<std::pair<std::string_view, std::uint16_t>, 4> kPorts = {
    {{"http", 80}, {"https", 443}, {"smtp", 25}, {"smtps", 465}}};

std::optional<std::uint16_t> DefaultPort(std::string_view scheme) noexcept {
  for (const auto& [name, port] : kPorts)
    if (name == scheme) return port;
  return std::nullopt;
}

std::string Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string Lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Other characters are turned into these, or decoded once more, on the way to the resolver: then
// the name that was checked is not the name that is called.
bool IsPlainHost(std::string_view host) noexcept {
  return std::ranges::all_of(host, [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '-' || c == '_' || c == ':';
  });
}

Result<Url> Read(CURLU* parsed) {
  Url url{.scheme = Lower(Part(parsed, CURLUPART_SCHEME)),
          .host = Lower(Part(parsed, CURLUPART_HOST)),
          .path = Part(parsed, CURLUPART_PATH),
          .query = Part(parsed, CURLUPART_QUERY)};
  const auto port = DefaultPort(url.scheme);
  if (!port) return Fail(ErrorCode::kInvalid, "the url is neither http nor https");
  if (!Part(parsed, CURLUPART_USER).empty() || !Part(parsed, CURLUPART_PASSWORD).empty())
    return Fail(ErrorCode::kInvalid,
                "the url holds a user or password; send them in a header, from a secret");
  if (url.host.starts_with('[') && url.host.ends_with(']'))
    url.host = url.host.substr(1, url.host.size() - 2);
  if (!Part(parsed, CURLUPART_ZONEID).empty())
    return Fail(ErrorCode::kInvalid, "the url names a network interface");
  if (url.host.ends_with('.')) url.host.pop_back();
  if (url.host.empty()) return Fail(ErrorCode::kInvalid, "the url names no host");
  if (url.host.size() > kMostHost)
    return Fail(ErrorCode::kInvalid, "the url's host has {} characters, and a name has at most {}",
                url.host.size(), kMostHost);
  if (!IsPlainHost(url.host))
    return Fail(ErrorCode::kInvalid,
                "the url's host has other characters than a to z, 0 to 9, '.', '-' and '_'; write "
                "an international name as xn--…");
  url.port = *port;
  if (const auto given = Part(parsed, CURLUPART_PORT); !given.empty())
    std::from_chars(given.data(), given.data() + given.size(), url.port);
  return url;
}

bool HasBlankOrControl(std::string_view text) noexcept {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

Result<Url> Parse(std::string_view text, const std::string& base) {
  const UrlPtr parsed(curl_url());
  MUSTER_CHECK(parsed != nullptr);
  if (HasBlankOrControl(text))
    return Fail(ErrorCode::kInvalid, "the url holds a blank or line end");
  const std::string whole(text);
  const bool fits =
      (base.empty() || curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), 0) == CURLUE_OK) &&
      curl_url_set(parsed.get(), CURLUPART_URL, whole.c_str(), 0) == CURLUE_OK;
  if (!fits) return Fail(ErrorCode::kInvalid, "that is no url like https://example.com/path");
  return Read(parsed.get());
}

}  // namespace

std::string Url::Origin() const {
  std::string text = scheme + "://";
  text += host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != DefaultPort(scheme)) text += ":" + std::to_string(port);
  return text;
}

std::string Url::Bare() const { return Origin() + path; }

std::string Url::Text() const { return query.empty() ? Bare() : Bare() + "?" + query; }

Result<Url> ParseUrl(std::string_view text) { return Parse(text, ""); }

Result<Url> ParseUrl(std::string_view text, const Url& base) { return Parse(text, base.Text()); }

}  // namespace muster::outside
