#include "documents/channel.hpp"

namespace muster::documents {
namespace {

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

Result<Channel> ChannelOf(const ChannelDocument& document) {
  Channel channel = Build(document);
  if (auto checked = CheckChannel(channel); !checked)
    return Fail(checked.error().code, "channel {}: {}", document.name, checked.error().message);
  return channel;
}

}  // namespace muster::documents
