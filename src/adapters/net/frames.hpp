#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "adapters/net/socket.hpp"

namespace muster::net {

// Frames over one WebSocket, at either end: reads them one after the other, sends them in order,
// closes. Small when idle: no buffers, no timer, one read in flight.
class Frames : public std::enable_shared_from_this<Frames> {
 public:
  Frames(Socket socket, std::size_t max_frame);
  virtual ~Frames() = default;

  // The memory that a frame takes while it waits, in bytes; for a small one that is more than its
  // content.
  static std::size_t SizeOf(const std::string& frame) { return sizeof(frame) + frame.size(); }

  void Queue(std::string frame);                  // ignored once closing
  std::size_t Queued() const { return unsent_; }  // bytes, by SizeOf
  void CloseAfterSent();                          // ends in OnClosed
  void Cut();                                     // at once; OnClosed is not called

 protected:
  using WebSocket = beast::websocket::stream<Socket, false>;

  virtual void OnFrame(std::string frame) = 0;
  virtual void OnClosed(Error why) = 0;  // once

  void StartReading() { Read(); }
  void Break(error_code error);
  bool closed() const { return closed_; }
  bool closing() const { return closing_; }
  WebSocket& websocket() { return websocket_; }
  Socket& socket() { return websocket_.next_layer(); }

 private:
  void Read();
  void OnRead(error_code error, std::size_t bytes);
  void Send();
  void OnSent(error_code error);
  void DropSent();
  void SendClose();

  WebSocket websocket_;
  bool closed_ = false;
  bool closing_ = false;
  bool sending_ = false;
  // Most frames fit here; only a longer one gets memory of its own, and only while it comes in.
  std::array<char, 192> short_frame_;
  std::string long_frame_;
  std::size_t long_size_ = 0;
  std::string in_flight_;
  std::vector<std::string> queue_;
  std::size_t queue_head_ = 0;
  std::size_t unsent_ = 0;
};

}  // namespace muster::net
