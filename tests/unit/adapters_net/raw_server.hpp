#pragma once

#include <string>
#include <string_view>

#include "unit/adapters_net/fixture.hpp"

namespace muster::net {

// A server without manners, for one plain connection at a time: bytes in, bytes out.
class RawServer {
 public:
  RawServer();
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  Endpoint At() const { return {false, "127.0.0.1", std::to_string(port_)}; }
  void Accept();  // the next connection; then the one before is closed
  std::string ReadUntil(std::string_view end);  // or until the client closes
  std::string ReadAll() { return ReadUntil({}); }
  void Send(std::string_view bytes);
  void Close();
  void StopListening();  // from now on connections are refused

 private:
  bool Await(int fd);

  int listener_ = -1;
  int fd_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace muster::net
