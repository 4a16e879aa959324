#include "domain/channel.hpp"

#include <algorithm>
#include <array>

#include "domain/token.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"webhook", "chat", "smtp"};
constexpr std::array<std::string_view, 3> kTlsNames = {"none", "starttls", "tls"};

bool HasControl(std::string_view text) noexcept {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Where "secret:" begins in a text that names one.
std::size_t SecretAt(std::string_view text) noexcept {
  if (SecretNamed(text)) return 0;
  const auto space = text.rfind(' ');
  if (space == std::string_view::npos || !SecretNamed(text.substr(space + 1)))
    return std::string_view::npos;
  return space + 1;
}

Result<> CheckText(std::string_view what, std::string_view text) {
  if (HasControl(text))
    return Fail(ErrorCode::kInvalid, "{} holds a line end or another control character", what);
  const auto at = SecretAt(text);
  if (at == std::string_view::npos) return {};
  return CheckSecretName(*SecretNamed(text.substr(at)));
}

Result<> CheckUrl(const std::string& url) {
  if (auto checked = CheckText("the url", url); !checked) return checked;
  if (SecretNamed(url) || url.starts_with("https://") || url.starts_with("http://")) return {};
  return Fail(ErrorCode::kInvalid, "a url begins with https:// or http://, or is secret:NAME");
}

Result<> CheckHeader(const std::pair<std::string, std::string>& header) {
  const auto& [name, value] = header;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, fits))
    return Fail(ErrorCode::kInvalid, "a header's name is of letters, digits, - and _");
  return CheckText("header " + name, value);
}

Result<> CheckMailAddress(std::string_view address) {
  const auto at = address.find('@');
  const bool fits = !HasControl(address) && at != 0 && at != std::string_view::npos &&
                    at + 1 < address.size() && address.size() <= 254 &&
                    address.find_first_of(" <>,;\"\\") == std::string_view::npos &&
                    address.find('@', at + 1) == std::string_view::npos;
  if (fits) return {};
  return Fail(ErrorCode::kInvalid, "'{}' is no mail address like ops@example.com",
              HasControl(address) ? "…" : address);
}

Result<> CheckPost(const std::string& url,
                   const std::vector<std::pair<std::string, std::string>>& headers) {
  if (headers.size() > kMaxChannelHeaders)
    return Fail(ErrorCode::kInvalid, "a channel has at most {} headers", kMaxChannelHeaders);
  for (const auto& header : headers)
    if (auto checked = CheckHeader(header); !checked) return checked;
  return CheckUrl(url);
}

Result<> Check(const WebhookChannel& webhook) { return CheckPost(webhook.url, webhook.headers); }
Result<> Check(const ChatChannel& chat) { return CheckPost(chat.url, chat.headers); }

Result<> Check(const MailChannel& mail) {
  if (mail.server.empty() || mail.server.find_first_of("/@ \\?#") != std::string::npos ||
      HasControl(mail.server))
    return Fail(ErrorCode::kInvalid, "server is a name, or name:port");
  if (auto checked = CheckMailAddress(mail.from); !checked) return checked;
  if (mail.to.empty()) return Fail(ErrorCode::kInvalid, "mail needs somebody to go `to`");
  for (const auto& to : mail.to)
    if (auto checked = CheckMailAddress(to); !checked) return checked;
  if (HasControl(mail.subject) || HasControl(mail.user))
    return Fail(ErrorCode::kInvalid, "subject and user are of one line");
  if (mail.user.empty() != mail.password.empty())
    return Fail(ErrorCode::kInvalid, "user and password go together");
  if (!mail.password.empty() && mail.tls == MailTls::kNone)
    return Fail(ErrorCode::kInvalid,
                "a password is sent over TLS only: set tls to starttls or tls");
  return CheckText("the password", mail.password);
}

template <typename Visit>
void VisitTexts(Channel& channel, const Visit& visit) {
  if (auto* webhook = std::get_if<WebhookChannel>(&channel.way)) {
    visit(webhook->url);
    for (auto& [name, value] : webhook->headers) visit(value);
  } else if (auto* chat = std::get_if<ChatChannel>(&channel.way)) {
    visit(chat->url);
    for (auto& [name, value] : chat->headers) visit(value);
  } else if (auto* mail = std::get_if<MailChannel>(&channel.way)) {
    visit(mail->password);
  }
}

}  // namespace

std::string_view Name(MailTls tls) noexcept { return kTlsNames[static_cast<std::size_t>(tls)]; }

std::optional<MailTls> ParseMailTls(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kTlsNames, name);
  if (found == kTlsNames.end()) return std::nullopt;
  return static_cast<MailTls>(found - kTlsNames.begin());
}

std::string_view KindOf(const Channel& channel) noexcept { return kKinds[channel.way.index()]; }

Result<> CheckChannel(const Channel& channel) {
  if (auto checked = CheckTokenName(channel.name); !checked)
    return Fail(ErrorCode::kInvalid,
                "a channel's name is 1 to 64 letters, digits and . _ @ -, beginning with a letter "
                "or digit");
  return std::visit([](const auto& way) { return Check(way); }, channel.way);
}

std::optional<std::string_view> SecretIn(std::string_view text) noexcept {
  const auto at = SecretAt(text);
  return at == std::string_view::npos ? std::nullopt : SecretNamed(text.substr(at));
}

bool NamesSecret(std::string_view text) noexcept { return SecretIn(text).has_value(); }

Result<> FillSecrets(std::string& text, const FindSecret& find, std::vector<std::string>& masks) {
  const auto at = SecretAt(text);
  if (at == std::string::npos) return {};
  auto value = find(*SecretNamed(std::string_view(text).substr(at)));
  if (!value) return Fail(value.error());
  for (auto& mask : MasksOf(*value)) masks.push_back(std::move(mask));
  text.replace(at, std::string::npos, *value);
  return {};
}

Result<> FillSecrets(Channel& channel, const FindSecret& find, std::vector<std::string>& masks) {
  Channel filled = channel;
  Result<> result;
  VisitTexts(filled, [&](std::string& text) {
    if (result) result = FillSecrets(text, find, masks);
  });
  if (result) channel = std::move(filled);
  return result;
}

bool HasSecretUrl(const Channel& channel) noexcept {
  if (const auto* webhook = std::get_if<WebhookChannel>(&channel.way))
    return NamesSecret(webhook->url);
  const auto* chat = std::get_if<ChatChannel>(&channel.way);
  return chat != nullptr && NamesSecret(chat->url);
}

std::vector<std::string> SecretsOf(const Channel& channel) {
  std::vector<std::string> names;
  Channel copy = channel;
  VisitTexts(copy, [&](const std::string& text) {
    if (const auto name = SecretIn(text)) names.emplace_back(*name);
  });
  return names;
}

}  // namespace muster
