#include "documents/kinds/channel.hpp"

#include "documents/fields.hpp"
#include "documents/keys.hpp"

namespace muster::documents {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): its words

constexpr std::string_view kChannelTypes[] = {"webhook", "chat", "smtp"};

// Keys that belong to another type of channel, or that this one lacks.
void CheckChannel(const Context& context, const Node& root, ChannelType type) {
  const bool mail = type == ChannelType::kSmtp;
  const auto check = [&](std::string_view key, bool belongs, bool required) {
    const Node* given = root.FindKey(key);
    if (given != nullptr && !belongs)
      context.problems.Add(given->at, "'{}' says nothing for type {}", key, Name(type));
    if (given == nullptr && belongs && required)
      context.problems.Add(root.at, "a channel of type {} needs '{}'", Name(type), key);
  };
  check("url", !mail, true);
  check("headers", !mail, false);
  check("server", mail, true);
  check("from", mail, true);
  check("to", mail, true);
  check("user", mail, false);
  check("password", mail, false);
  check("subject", mail, false);
  check("tls", mail, false);
  if (const Node* headers = root.Find("headers");
      headers != nullptr && headers->keys.size() > kMaxChannelHeaders)
    context.problems.Add(headers->keys[kMaxChannelHeaders].at, "a channel has at most {} headers",
                         kMaxChannelHeaders);
  if (mail && TextOf(root, "tls") == "none" && root.Find("password") != nullptr)
    context.problems.Add(root.Find("password")->at, "a password is sent over TLS only");
  if ((root.Find("user") == nullptr) != (root.Find("password") == nullptr) && mail)
    context.problems.Add(root.at, "'user' and 'password' go together");
}

Channel Build(const ChannelDocument& document) {
  switch (document.type) {
    case ChannelType::kWebhook:
      return {document.name, WebhookChannel{.url = document.url, .headers = document.headers}};
    case ChannelType::kChat:
      return {document.name, ChatChannel{.url = document.url, .headers = document.headers}};
    case ChannelType::kSmtp:
      break;
  }
  return {document.name, MailChannel{.server = document.server,
                                     .from = document.from,
                                     .to = document.to,
                                     .subject = document.subject,
                                     .tls = ParseMailTls(document.tls).value_or(MailTls::kStartTls),
                                     .user = document.user,
                                     .password = document.password}};
}

}  // namespace

std::string_view Name(ChannelType type) noexcept {
  return kChannelTypes[static_cast<std::size_t>(type)];
}

const Shape& ChannelShape() {
  static const Shape shape = [] {
    Shape channel{"channel", "a channel",
                  HeadKeys("channel", Form::kName, "Used as `to` in a `notify`.")};
    Append(channel.keys,
           {{"description", Text(Form::kProse), "For people."},
            {"type", Choice({"webhook", "chat", "smtp"}),
             "`webhook` posts a JSON object, `chat` posts `{\"text\": …}`, `smtp` sends a mail.",
             true},
            {"url", Text(Form::kAddress), "Of a webhook or chat. May be `secret:NAME`."},
            {"headers", Pairs(Form::kHeader, Text(Form::kText)),
             "Of a webhook or chat. Values may be `secret:NAME`."},
            {"server", Text(Form::kText), "Of smtp: `HOST` or `HOST:PORT`."},
            {"from", Text(Form::kText), "Of smtp: the sender's address."},
            {"to", OneOrList(Text(Form::kText)), "Of smtp: one address or several."},
            {"user", Text(Form::kText), "Of smtp: who logs in."},
            {"password", Text(Form::kSecret), "Of smtp: always `secret:NAME`."},
            {"subject", Text(Form::kText), "Of smtp; without it the message's first line."},
            {"tls", Choice({"starttls", "tls", "none"}),
             "Of smtp: `starttls` (default), `tls` from the start, `none` and no login."}});
    return channel;
  }();
  return shape;
}

ChannelDocument BuildChannel(const Context& context, const Node& root) {
  ChannelDocument channel;
  channel.name = TextOf(root, "name");
  channel.description = TextOf(root, "description");
  const auto type = TextOf(root, "type");
  if (type == "chat") channel.type = ChannelType::kChat;
  if (type == "smtp") channel.type = ChannelType::kSmtp;
  channel.url = TextOf(root, "url");
  channel.headers = PairsOf(root.Find("headers"));
  channel.server = TextOf(root, "server");
  channel.from = TextOf(root, "from");
  channel.to = TextsOf(root.Find("to"));
  channel.user = TextOf(root, "user");
  channel.password = TextOf(root, "password");
  channel.subject = TextOf(root, "subject");
  channel.tls = TextOf(root, "tls");
  if (type == Name(channel.type)) CheckChannel(context, root, channel.type);
  return channel;
}

Result<Channel> ChannelOf(const ChannelDocument& document) {
  Channel channel = Build(document);
  if (auto checked = CheckChannel(channel); !checked)
    return Fail(checked.error().code, "channel {}: {}", document.name, checked.error().message);
  return channel;
}

}  // namespace muster::documents
