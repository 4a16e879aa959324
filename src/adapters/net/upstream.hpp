#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/net/answer_reader.hpp"
#include "adapters/net/socket.hpp"
#include "base/instant.hpp"

namespace muster::net {

// A kept-alive connection to the server that requests are passed to; carries one at a time. On the
// loop's thread. Kept alive by whoever uses it and by what is in flight.
class Upstream final : public std::enable_shared_from_this<Upstream> {
 public:
  // The request that it carries at present.
  class User {
   public:
    virtual void OnSent(bool ok) = 0;  // what Send was given went out, or never will
    // More of the answer came, after Read; or the connection ended.
    virtual void OnAnswer(AnswerReader::State state) = 0;

   protected:
    ~User() = default;
  };

  explicit Upstream(Socket socket) : socket_(std::move(socket)) {}

  void Begin(User& user, bool head_only);
  void Send(std::string bytes);  // one at a time
  void Read();                   // brings the next OnAnswer
  AnswerReader& answer() { return *answer_; }

  // The user is done with it. False when it cannot carry another request; it is closed then.
  // Otherwise it lies idle, and `lost` is called when the server closes it meanwhile.
  bool Park(bool reusable, MonoTime now, std::function<void(Upstream&)> lost);
  void Close();  // the user hears no more

  bool used() const { return used_; }  // it carried a request before the present one
  MonoTime parked() const { return parked_; }

 private:
  void OnRead(error_code error, std::size_t bytes);

  static constexpr std::size_t kReadSize = 16 * 1024;  // one TLS record

  Socket socket_;
  User* user_ = nullptr;  // none while it lies idle
  bool used_ = false;
  bool reading_ = false;
  bool sending_ = false;
  bool closed_ = false;
  MonoTime parked_ = kNever;
  std::function<void(Upstream&)> lost_;
  char landing_[kReadSize];
  beast::flat_buffer in_;
  std::string out_;
  std::optional<AnswerReader> answer_;
};

}  // namespace muster::net
