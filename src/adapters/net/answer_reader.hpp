#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adapters/net/asio.hpp"
#include "adapters/net/http_text.hpp"
#include "adapters/net/piece_body.hpp"

namespace muster::net {

// Reads one HTTP answer out of bytes as they come; interim ones (100) are passed over. Knows no
// socket. The body is taken out piece by piece, so it may be endless.
class AnswerReader {
 public:
  enum class State { kHead, kBody, kDone, kRefused };

  struct Head {
    int status = 0;
    Headers headers = {};  // all but those of one connection
    Framing framing = Framing::kNone;
    std::uint64_t length = 0;  // with kLength
  };

  // `head_only`: it answers a HEAD, so no body follows whatever the head says.
  AnswerReader(bool head_only, std::size_t max_head);

  // Takes what belongs to this answer from the front of `in`.
  State Feed(beast::flat_buffer& in);
  // No more comes. kDone when that is how this body ends; kRefused when something is missing.
  State Finish();

  bool heard() const { return heard_; }       // a byte of it came
  const Head& head() const { return head_; }  // from kBody on
  std::string TakeBody();                     // what came since the last time
  bool KeepAlive() const;                     // with kDone
  // With kRefused: why, as in "the server was lost: …", and whether it only ended too soon.
  const std::string& reason() const { return reason_; }
  bool cut() const { return cut_; }

 private:
  using Parser = beast::http::response_parser<PieceBody>;

  void Renew();
  State OnHead();
  State Refuse(std::string reason);

  const bool head_only_;
  const std::size_t max_head_;
  std::optional<Parser> parser_;
  std::size_t head_bytes_ = 0;  // taken while the head is not complete
  int interim_ = 0;
  bool heard_ = false;
  bool head_read_ = false;
  bool cut_ = false;
  Head head_;
  std::string reason_;
};

// Without the headers that speak of one connection only: Connection and what it names, Keep-Alive,
// Proxy-…, TE, Trailer, Transfer-Encoding, Upgrade.
Headers WithoutHopByHop(Headers headers);

}  // namespace muster::net
