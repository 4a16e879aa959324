#include "adapters/egress/request.hpp"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "adapters/egress/answer.hpp"
#include "adapters/egress/mail_text.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "domain/request_time.hpp"

namespace muster::outside {
namespace {

constexpr std::size_t kMostWhat = 500;  // of what errors name
constexpr Duration kMessageTimeout = std::chrono::seconds(30);

// Set by the connection itself; another value would make one request mean two things.
constexpr std::array<std::string_view, 6> kOwnHeaders = {
    "host", "content-length", "transfer-encoding", "connection", "upgrade", "te"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool HasControl(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

Result<> CheckHeader(const std::string& name, const std::string& value) {
  const bool named = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!named) return Fail(ErrorCode::kInvalid, "a header's name is of letters, digits, - and _");
  if (HasControl(value))
    return Fail(ErrorCode::kInvalid, "the value of header {} holds a line end or control character",
                name);
  if (std::ranges::find(kOwnHeaders, Lower(name)) != kOwnHeaders.end())
    return Fail(ErrorCode::kInvalid, "header {} follows from the request; leave it out", name);
  return {};
}

Result<> AddHeaders(Request& request,
                    const std::vector<std::pair<std::string, std::string>>& headers) {
  bool typed = false;
  bool named = false;
  for (const auto& [name, value] : headers) {
    if (auto checked = CheckHeader(name, value); !checked) return checked;
    typed = typed || Lower(name) == "content-type";
    named = named || Lower(name) == "user-agent";
    request.headers.emplace_back(name, value);
  }
  if (!typed && !request.body.empty()) {
    const char first = Trim(request.body).empty() ? ' ' : Trim(request.body).front();
    request.headers.emplace_back("Content-Type", first == '{' || first == '['
                                                     ? "application/json"
                                                     : "text/plain; charset=utf-8");
  }
  if (!named) request.headers.emplace_back("User-Agent", std::string("muster/") + kVersion);
  return {};
}

Result<Request> Make(const HttpAction& action) {
  const bool method = !action.method.empty() && std::ranges::all_of(action.method, [](char c) {
    return c >= 'A' && c <= 'Z';
  });
  if (!method) return Fail(ErrorCode::kInvalid, "a method is of capital letters, like POST");
  auto url = ParseUrl(action.url);
  if (!url) return Fail(url.error());
  if (!url->scheme.starts_with("http"))
    return Fail(ErrorCode::kInvalid, "the url is neither http nor https");
  std::string what = action.method + " " + url->Bare();
  CutText(what, kMostWhat);
  Request request{.what = std::move(what),
                  .url = std::move(*url),
                  .method = action.method,
                  .body = action.body,
                  .timeout = std::clamp(action.timeout, Duration(1), kMaxRequestTime)};
  if (auto added = AddHeaders(request, action.headers); !added) return Fail(added.error());
  return request;
}

// A message says which channel and host, no more: of a url that comes from a secret not even the
// host, which may be one of a network that others should not know of.
std::string WhatOf(const ChannelMessage& message, const Url& url) {
  const std::string name = "channel " + message.channel.name;
  return message.secret_url ? name : name + " (" + url.host + ")";
}

Result<Request> MakePost(const ChannelMessage& message, const std::string& address,
                         boost::json::object body) {
  auto url = ParseUrl(address);
  if (!url) return Fail(url.error());
  if (!url->scheme.starts_with("http"))
    return Fail(ErrorCode::kInvalid, "the url is neither http nor https");
  return Request{.what = WhatOf(message, *url),
                 .secret_url = message.secret_url,
                 .url = *url,
                 .method = "POST",
                 .body = boost::json::serialize(body),
                 .timeout = kMessageTimeout};
}

Result<Request> Make(const TaskKey& task, const ChannelMessage& message,
                     const WebhookChannel& webhook) {
  auto request = MakePost(
      message, webhook.url,
      {{"run", message.run ? boost::json::value(FormatRunId(message.run)) : boost::json::value()},
       {"job", message.job},
       {"state", message.state},
       {"message", message.message},
       {"url", message.url}});
  if (!request) return request;
  auto headers = webhook.headers;
  headers.emplace_back("Idempotency-Key", fmt::format("{}-{}-{}", FormatRunId(task.run),
                                                      task.visit.value, task.ordinal));
  if (auto added = AddHeaders(*request, headers); !added) return Fail(added.error());
  return request;
}

Result<Request> Make(const ChannelMessage& message, const ChatChannel& chat) {
  std::string text = message.message;
  if (!message.url.empty()) text += "\n" + message.url;
  auto request = MakePost(message, chat.url, {{"text", text}});
  if (!request) return request;
  if (auto added = AddHeaders(*request, chat.headers); !added) return Fail(added.error());
  return request;
}

Result<Request> Make(const TaskKey& task, const ChannelMessage& message, const MailChannel& mail,
                     WallTime now) {
  std::string address = (mail.tls == MailTls::kTls ? "smtps://" : "smtp://") + mail.server;
  auto url = ParseUrl(address);
  if (!url)
    return Fail(ErrorCode::kInvalid, "'{}' is no server like mail.example.com:587", mail.server);
  const bool port_given = mail.server.ends_with(":" + std::to_string(url->port));
  if (mail.tls == MailTls::kStartTls && !port_given) url->port = 587;
  return Request{.what = WhatOf(message, *url),
                 .url = *url,
                 .body = MailText(task, message, mail, now),
                 .timeout = kMessageTimeout,
                 .envelope = Envelope{.from = mail.from,
                                      .to = mail.to,
                                      .starttls = mail.tls == MailTls::kStartTls,
                                      .user = mail.user,
                                      .password = mail.password}};
}

Result<Request> MakeFor(const TaskKey& task, const ChannelMessage& message, WallTime now) {
  // It was checked when it was made; secrets that were filled in since may break its form.
  if (auto checked = CheckChannel(message.channel); !checked) return Fail(checked.error());
  if (const auto* webhook = std::get_if<WebhookChannel>(&message.channel.way))
    return Make(task, message, *webhook);
  if (const auto* chat = std::get_if<ChatChannel>(&message.channel.way))
    return Make(message, *chat);
  return Make(task, message, std::get<MailChannel>(message.channel.way), now);
}

Result<Request> Make(const TaskKey& task, const ChannelMessage& message, WallTime now) {
  auto request = MakeFor(task, message, now);
  if (request) return request;
  return Fail(request.error().code, "channel {}: {}", message.channel.name,
              request.error().message);
}

// The request of whatever is one; nullptr for a message.
const HttpAction* HttpOf(const ServerAction& action) {
  if (const auto* condition = std::get_if<ConditionAction>(&action.what))
    return &condition->request;
  return std::get_if<HttpAction>(&action.what);
}

}  // namespace

Result<Request> MakeRequest(const TaskKey& task, const ServerAction& action, WallTime now) {
  if (const HttpAction* http = HttpOf(action)) return Make(*http);
  return Make(task, std::get<ChannelMessage>(action.what), now);
}

ServerOutcome Judge(const ServerAction& action, const Request& request, std::uint16_t status,
                    std::string body) {
  Answer answer{.status = status, .body = std::move(body)};
  if (const auto* http = std::get_if<HttpAction>(&action.what))
    return JudgeHttp(*http, request.what, std::move(answer));
  if (const auto* condition = std::get_if<ConditionAction>(&action.what))
    return JudgeReading(*condition, request.what, std::move(answer));
  return JudgeMessage(std::get<ChannelMessage>(action.what), request.what, std::move(answer));
}

std::optional<Url> RedirectOf(const ServerAction& action, const Request& request,
                              std::uint16_t status, const std::string& location) {
  const HttpAction* http = HttpOf(action);
  const bool safe = request.method == "GET" || request.method == "HEAD";
  if (http == nullptr || !safe || status < 300 || status > 399 || location.empty())
    return std::nullopt;
  if (std::ranges::find(http->expect, status) != http->expect.end()) return std::nullopt;
  auto url = ParseUrl(location, request.url);
  if (!url || url->host != request.url.host) return std::nullopt;
  const bool same = url->scheme == request.url.scheme && url->port == request.url.port;
  const bool upgrade = request.url.scheme == "http" && request.url.port == 80 &&
                       url->scheme == "https" && url->port == 443;
  if (!same && !upgrade) return std::nullopt;
  return *url;
}

}  // namespace muster::outside
