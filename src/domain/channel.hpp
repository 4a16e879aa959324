#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "domain/secret.hpp"

// Ways to tell somebody (`kind: channel`). In a channel as it is kept, urls, headers' values and
// the password may be "secret:NAME", also after a word and a space ("Bearer secret:NAME").
namespace muster {

// POSTs a JSON document: {"run", "job", "state", "message", "url"}.
struct WebhookChannel {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};

  friend bool operator==(const WebhookChannel&, const WebhookChannel&) = default;
};

// POSTs {"text": …}, as Slack, Mattermost and their kin take it. The url is a secret of its own.
struct ChatChannel {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};

  friend bool operator==(const ChatChannel&, const ChatChannel&) = default;
};

enum class MailTls : std::uint8_t {
  kNone = 0,      // in the clear, and so without a password
  kStartTls = 1,  // plain at first; nothing is sent when the server does not offer it
  kTls = 2,       // from the first byte
};
std::string_view Name(MailTls tls) noexcept;  // "none", "starttls", "tls"
std::optional<MailTls> ParseMailTls(std::string_view name) noexcept;

struct MailChannel {
  std::string server;  // "mail.example.com" or with ":port" (else 25, 587 or 465, by `tls`)
  std::string from;
  std::vector<std::string> to;
  std::string subject = {};  // "" is the message's first line
  MailTls tls = MailTls::kStartTls;
  std::string user = {};
  std::string password = {};

  friend bool operator==(const MailChannel&, const MailChannel&) = default;
};

struct Channel {
  std::string name;
  std::variant<WebhookChannel, ChatChannel, MailChannel> way;

  friend bool operator==(const Channel&, const Channel&) = default;
};

// "webhook", "chat", "smtp".
std::string_view KindOf(const Channel& channel) noexcept;

// An entry of the audit trail names the secrets of all of them.
inline constexpr std::size_t kMaxChannelHeaders = 50;

// Names as CheckTokenName has them; urls are http or https; at most kMaxChannelHeaders headers;
// mail addresses and headers hold nothing that could end their line; a password needs TLS. kInvalid
// says what to change.
Result<> CheckChannel(const Channel& channel);

// Puts secrets in the place of their names. The masks of each value are added to `masks`. After
// a failure (find's own) the text or channel is as it was.
Result<> FillSecrets(std::string& text, const FindSecret& find, std::vector<std::string>& masks);
Result<> FillSecrets(Channel& channel, const FindSecret& find, std::vector<std::string>& masks);

// The name of the secret that FillSecrets would put into this text; none when it names none.
std::optional<std::string_view> SecretIn(std::string_view text) noexcept;

// Whether FillSecrets would put one into this text.
bool NamesSecret(std::string_view text) noexcept;

// Whether the url of a channel, as it is kept, comes from a secret.
bool HasSecretUrl(const Channel& channel) noexcept;

// The names of the secrets a channel uses, in the order they stand in it.
std::vector<std::string> SecretsOf(const Channel& channel);

}  // namespace muster
