#include "adapters/egress/transfer.hpp"

#include <algorithm>
#include <sys/socket.h>

#include "adapters/egress/answer.hpp"
#include "base/text.hpp"

namespace muster::outside {
namespace {

constexpr unsigned kMostRedirects = 5;

curl_slist* Append(curl_slist* list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list, line.c_str());
  MUSTER_CHECK(longer != nullptr);
  return longer;
}

ServerOutcome Refused(std::string_view what, const Error& error) {
  return {.state = TaskState::kRefused,
          .reason = what.empty() ? error.message : fmt::format("{}: {}", what, error.message)};
}

// What the rules say names the url and its address.
ServerOutcome NotAllowed(const Request& request, const Error& error) {
  if (!request.secret_url) return Refused(request.what, error);
  return Refused(request.what, {error.code,
                                "its url may not be called: see outside.allow and outside.deny of "
                                "the server's settings"});
}

}  // namespace

Transfer::Transfer(const TaskKey& task, ServerAction action, ServerActions::Done done)
    : task_(task),
      action_(std::move(action)),
      destination_(DestinationOf(action_)),
      done_(std::move(done)) {}

Transfer::~Transfer() {
  if (handle_ != nullptr) curl_easy_cleanup(handle_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(recipients_);
}

std::optional<ServerOutcome> Transfer::Prepare(std::shared_ptr<const Bounds> bounds, WallTime now) {
  bounds_ = std::move(bounds);
  begun_ = std::chrono::steady_clock::now();
  auto request = MakeRequest(task_, action_, now);
  if (!request) return Refused({}, request.error());
  request_ = std::move(*request);
  if (const auto allowed = bounds_->rules.Check(request_.url); !allowed)
    return NotAllowed(request_, allowed.error());
  handle_ = curl_easy_init();
  MUSTER_CHECK(handle_ != nullptr);
  curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, problem_.data());
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  // Ending a transfer must not wait for a name server.
  curl_easy_setopt(handle_, CURLOPT_QUICK_EXIT, 1L);
  // The environment's proxies would call in our place, unchecked.
  curl_easy_setopt(handle_, CURLOPT_PROXY, "");
  curl_easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  // Each request is connected, and so checked, anew.
  curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(handle_, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &Transfer::OnSocket);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(handle_, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (!bounds_->ca_file.empty()) {
    curl_easy_setopt(handle_, CURLOPT_CAINFO, bounds_->ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_CAPATH, nullptr);
  }
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(bounds_->connect_timeout.count()));
  if (request_.envelope)
    SetMail();
  else
    SetHttp();
  SetTarget();
  return std::nullopt;
}

Duration Transfer::Lasted() const {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun_);
}

void Transfer::SetTarget() {
  curl_easy_setopt(handle_, CURLOPT_URL, request_.url.Text().c_str());
  const auto left = std::max(request_.timeout - Lasted(), Duration(1));
  curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
}

void Transfer::SetHttp() {
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  const bool has_body = !request_.body.empty() || request_.method == "POST" ||
                        request_.method == "PUT" || request_.method == "PATCH";
  if (request_.method == "HEAD") {
    curl_easy_setopt(handle_, CURLOPT_NOBODY, 1L);
  } else if (has_body) {
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, request_.body.c_str());
    // Without it libcurl would call every body a form.
    if (request_.body.empty()) headers_ = Append(headers_, "Content-Type:");
  }
  if (request_.method != "HEAD" && !(request_.method == "GET" && !has_body))
    curl_easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  headers_ = Append(headers_, "Expect:");
  // libcurl's form of a header without a value ends in a semicolon.
  for (const auto& [name, value] : request_.headers)
    headers_ = Append(headers_, value.empty() ? name + ";" : name + ": " + value);
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_);
}

void Transfer::SetMail() {
  const Envelope& envelope = *request_.envelope;
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(handle_, CURLOPT_USE_SSL,
                   static_cast<long>(envelope.starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  curl_easy_setopt(handle_, CURLOPT_MAIL_FROM, envelope.from.c_str());
  for (const auto& to : envelope.to) recipients_ = Append(recipients_, to);
  curl_easy_setopt(handle_, CURLOPT_MAIL_RCPT, recipients_);
  if (!envelope.user.empty()) {
    curl_easy_setopt(handle_, CURLOPT_USERNAME, envelope.user.c_str());
    curl_easy_setopt(handle_, CURLOPT_PASSWORD, envelope.password.c_str());
  }
  curl_easy_setopt(handle_, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle_, CURLOPT_READFUNCTION, &Transfer::OnRead);
  curl_easy_setopt(handle_, CURLOPT_READDATA, this);
}

std::optional<ServerOutcome> Transfer::Finish(CURLcode code) {
  if (code != CURLE_OK) return Fault(code);
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  const char* location = nullptr;
  curl_easy_getinfo(handle_, CURLINFO_REDIRECT_URL, &location);
  const auto redirect = RedirectOf(action_, request_, static_cast<std::uint16_t>(status),
                                   location == nullptr ? "" : location);
  if (!redirect)
    return Judge(action_, request_, static_cast<std::uint16_t>(status), std::move(answer_));
  if (++redirects_ > kMostRedirects)
    return ServerOutcome{
        .reason = fmt::format("{}: more than {} redirects", request_.what, kMostRedirects),
        .status = static_cast<std::uint16_t>(status)};
  if (const auto allowed = bounds_->rules.Check(*redirect); !allowed)
    return ServerOutcome{
        .reason = fmt::format("{}: redirects, and {}", request_.what, allowed.error().message),
        .status = static_cast<std::uint16_t>(status)};
  request_.url = *redirect;
  answer_.clear();
  SetTarget();
  return std::nullopt;
}

bool Transfer::TimedOut() const noexcept {
  // libcurl counts whole milliseconds, from a little later.
  constexpr Duration kSlack = std::chrono::milliseconds(10);
  return std::chrono::steady_clock::now() - begun_ + kSlack >= request_.timeout;
}

ServerOutcome Transfer::Fault(CURLcode code) const {
  if (not_allowed_ && !connecting_) return NotAllowed(request_, *not_allowed_);
  ServerOutcome outcome;
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  outcome.status = static_cast<std::uint16_t>(status);
  // libcurl's own words hold names and addresses, those of a code do not.
  const bool in_full = problem_[0] != '\0' && !request_.secret_url;
  const std::string_view told = in_full ? problem_.data() : curl_easy_strerror(code);
  if (too_large_) {
    outcome.reason = fmt::format("{}: the answer is larger than {}", request_.what,
                                 FormatSize(ServerOutcome::kMostAnswer));
  } else if (code == CURLE_OPERATION_TIMEDOUT && TimedOut()) {
    outcome.state = TaskState::kTimedOut;
    outcome.reason =
        fmt::format("{}: timed out after {}", request_.what, FormatDuration(request_.timeout));
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    outcome.reason = fmt::format("{}: not connected within {}", request_.what,
                                 FormatDuration(bounds_->connect_timeout));
  } else {
    outcome.reason = fmt::format("{}: {}", request_.what, Trim(told));
  }
  return outcome;
}

ServerOutcome Transfer::Broken(TaskState sent, std::string_view why) const {
  curl_off_t begun = 0;
  if (handle_ != nullptr) curl_easy_getinfo(handle_, CURLINFO_PRETRANSFER_TIME_T, &begun);
  const bool maybe_sent = begun != 0 || redirects_ != 0;
  return {.state = maybe_sent ? sent : TaskState::kSkipped,
          .reason = fmt::format("{}: {}", request_.what, why)};
}

void Transfer::End(ServerOutcome outcome) {
  Clean(outcome, action_.masks);
  const auto done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

std::size_t Transfer::OnBody(char* bytes, std::size_t size, std::size_t count,
                             void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  // What a mail server says is its dialogue, not an answer.
  if (transfer.request_.envelope) return size * count;
  if (transfer.answer_.size() + size * count > ServerOutcome::kMostAnswer) {
    transfer.too_large_ = true;
    return 0;
  }
  transfer.answer_.append(bytes, size * count);
  return size * count;
}

std::size_t Transfer::OnRead(char* place, std::size_t size, std::size_t count,
                             void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t taken = transfer.request_.body.copy(place, size * count, transfer.read_);
  transfer.read_ += taken;
  return taken;
}

curl_socket_t Transfer::OnSocket(void* self, curlsocktype purpose,
                                 curl_sockaddr* address) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  const auto ip = AddressOf(address->addr);
  if (purpose != CURLSOCKTYPE_IPCXN || !ip) return CURL_SOCKET_BAD;
  if (const auto allowed = transfer.bounds_->rules.Check(transfer.request_.url, *ip); !allowed) {
    transfer.not_allowed_ = allowed.error();
    return CURL_SOCKET_BAD;
  }
  transfer.connecting_ = true;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace muster::outside
