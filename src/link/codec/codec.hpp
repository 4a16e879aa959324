#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "link/messages.hpp"

namespace muster::link {

// Turns frames into bytes and back. Decoding checks everything that comes from outside: enum
// values, hash lengths, sizes; kInvalid says what was wrong. Encode keeps nothing; an Encoder may
// keep the bytes of the last command, as thousands of orders of one run share it.
std::string Encode(const NodeFrame& frame);
Result<NodeFrame> DecodeNodeFrame(std::string_view bytes);
Result<ServerFrame> DecodeServerFrame(std::string_view bytes);

std::string EncodeCommand(const Command& command);
Result<Command> DecodeCommand(std::string_view bytes);

std::string EncodeOrder(const Order& order);  // for the agent's journal
Result<Order> DecodeOrder(std::string_view bytes);

std::string EncodeTaskEnd(const TaskEnd& end);  // for stored rows
Result<TaskEnd> DecodeTaskEnd(std::string_view bytes);

// An end as an agent keeps it on its disk, with the task whose end it is; one that an older agent
// wrote does not say. DecodeTaskEnd reads it as well.
struct KeptEnd {
  std::optional<TaskKey> task;
  TaskEnd end;
};
std::string EncodeKeptEnd(const TaskKey& task, const TaskEnd& end);
Result<KeptEnd> DecodeKeptEnd(std::string_view bytes);

class ServerFrameEncoder {
 public:
  std::string Encode(const ServerFrame& frame);

 private:
  std::shared_ptr<const Command> last_command_;
  std::string last_bytes_;
};

// The longest certificate request a server looks at.
constexpr std::size_t kMaxRequestBytes = 16 << 10;

// The longest frame either side accepts.
constexpr std::size_t kMaxFrameBytes = 4 << 20;

}  // namespace muster::link
