#pragma once

#include <array>
#include <chrono>
#include <curl/curl.h>
#include <memory>
#include <optional>
#include <string>

#include "adapters/egress/destinations.hpp"
#include "adapters/egress/places.hpp"
#include "adapters/egress/request.hpp"
#include "adapters/egress/rules.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

// What every transfer begun from now on is held to.
struct Bounds {
  Rules rules;
  std::string ca_file;
  Duration connect_timeout{};
};

// One action under way, on one libcurl handle. For one thread. The handle points back to it, so it
// stays where it is.
class Transfer {
 public:
  Transfer(const TaskKey& task, ServerAction action, ServerActions::Done done);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  const TaskKey& Task() const noexcept { return task_; }
  PlaceUse Use() const { return UseOf(task_, action_); }
  const std::string& Destination() const noexcept { return destination_; }
  Duration Lasted() const;  // since Prepare

  // Makes the handle ready for a multi handle. An outcome: it may not or cannot be sent.
  std::optional<ServerOutcome> Prepare(std::shared_ptr<const Bounds> bounds, WallTime now);
  CURL* Handle() const noexcept { return handle_; }

  // The handle is done. Nothing: it goes on with a redirect; add the handle again.
  std::optional<ServerOutcome> Finish(CURLcode code);

  // Ended from here: `sent` when bytes of the request may have gone out, else kSkipped.
  ServerOutcome Broken(TaskState sent, std::string_view why) const;

  // Calls `done`, once, with what may be told.
  void End(ServerOutcome outcome);

 private:
  void SetTarget();
  void SetHttp();
  void SetMail();
  ServerOutcome Fault(CURLcode code) const;
  bool TimedOut() const noexcept;

  static std::size_t OnBody(char* bytes, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t OnRead(char* place, std::size_t size, std::size_t count, void* self) noexcept;
  static curl_socket_t OnSocket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;

  const TaskKey task_;
  const ServerAction action_;
  const std::string destination_;
  ServerActions::Done done_;
  std::shared_ptr<const Bounds> bounds_;  // shared with the other transfers begun meanwhile
  Request request_;
  CURL* handle_ = nullptr;
  curl_slist* headers_ = nullptr;
  curl_slist* recipients_ = nullptr;
  std::chrono::steady_clock::time_point begun_;
  std::string answer_;
  bool too_large_ = false;
  std::size_t read_ = 0;  // of the mail
  unsigned redirects_ = 0;
  bool connecting_ = false;           // at least one address was allowed
  std::optional<Error> not_allowed_;  // the last one that was not
  std::array<char, CURL_ERROR_SIZE> problem_{};
};

}  // namespace muster::outside
