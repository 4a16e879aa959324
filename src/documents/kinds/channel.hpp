#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "domain/channel.hpp"

// `kind: channel`
namespace muster::documents {

struct Context;
struct Node;
struct Shape;

enum class ChannelType : std::uint8_t {
  kWebhook,  // a JSON object is posted to `url`
  kChat,     // {"text": …} is posted to `url`
  kSmtp,     // a mail
};

std::string_view Name(ChannelType type) noexcept;

// Where notices go. `url`, the values of `headers` and `password` may be "secret:NAME".
struct ChannelDocument {
  std::string name;
  std::string description;
  ChannelType type = ChannelType::kWebhook;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string server;  // "host" or "host:port"
  std::string from;
  std::vector<std::string> to;
  std::string user;
  std::string password;
  std::string subject;  // of a mail; "" is the message's first line
  std::string tls;      // "starttls", "tls", "none"; "" is starttls
};

// The channel that a document makes; kInvalid as CheckChannel has it, for what the document's own
// rules let pass.
Result<Channel> ChannelOf(const ChannelDocument& document);

const Shape& ChannelShape();
ChannelDocument BuildChannel(const Context& context, const Node& root);

}  // namespace muster::documents
