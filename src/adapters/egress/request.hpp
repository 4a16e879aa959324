#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/egress/url.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

// How a mail is handed in.
struct Envelope {
  std::string from;
  std::vector<std::string> to;
  bool starttls = false;
  std::string user = {};
  std::string password = {};
};

// An action as it goes over the wire.
struct Request {
  // For reasons: "GET https://example.com/v1", "channel ticket-system (example.com)"; of a channel
  // whose url is a secret "channel ops-chat".
  std::string what;
  bool secret_url = false;  // reasons name the kind of a failure, and nothing of the url or answer
  Url url;
  std::string method = {};  // of HTTP
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};  // of a mail: all of it
  Duration timeout{};
  std::optional<Envelope> envelope = {};  // set: a mail
};

// kInvalid: it can never be sent as it is (no url, a header that would end its line …).
Result<Request> MakeRequest(const TaskKey& task, const ServerAction& action, WallTime now);

// What its answer comes to.
ServerOutcome Judge(const ServerAction& action, const Request& request, std::uint16_t status,
                    std::string body);

// Where a redirect leads, when it is one to follow: a GET or HEAD whose action does not expect this
// very status, to the same host and port (or from http there to https). Otherwise the answer is the
// answer.
std::optional<Url> RedirectOf(const ServerAction& action, const Request& request,
                              std::uint16_t status, const std::string& location);

}  // namespace muster::outside
