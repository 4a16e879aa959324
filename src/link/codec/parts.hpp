#pragma once

#include <string>

#include "link.pb.h"

#include "base/result.hpp"
#include "link/messages.hpp"

// The pieces that frames of both directions and kept records share. Put writes a value into its
// wire message; Take checks a wire message and gives the value, or kInvalid with what was wrong.
namespace muster::link::codec {

namespace wire = muster::link::v1;

inline constexpr std::size_t kSha256Bytes = 32;

// Protobuf refuses a whole frame for one string that is not UTF-8, and a host's words (a reason, a
// kernel's name) come from outside. So bytes that are not UTF-8 leave as '?'.
std::string Clean(const std::string& text);

void Put(const TaskKey& key, wire::TaskKey* out);
void Put(const TermTicket& ticket, wire::TermTicket* out);
void Put(const LogTotals& totals, wire::LogTotals* out);
void Put(const TaskEnd& end, wire::TaskEnd* out);
void Put(const Command& command, wire::Command* out);

// Of a command: push, pull, reboot and secrets (actions.cpp).
void PutActions(const Command& command, wire::Command* out);
Result<> TakeActions(const wire::Command& in, Command* out);

TaskKey Take(const wire::TaskKey& in);
TermTicket Take(const wire::TermTicket& in);
Result<LogTotals> Take(const wire::LogTotals& in);
Result<TaskEnd> Take(const wire::TaskEnd& in);
Result<Command> Take(const wire::Command& in);
Result<WallTime> TakeTime(std::int64_t ms);
Result<Duration> TakeDuration(std::int64_t ms);

// Parses bytes of at most kMaxFrameBytes into `out`.
Result<> Parse(std::string_view bytes, google::protobuf::MessageLite* out);

std::string Serialize(const google::protobuf::MessageLite& message);

// No output of a task comes near this; past it sums of offsets and sizes could wrap.
constexpr std::uint64_t kMaxOffset = 1ULL << 62;

}  // namespace muster::link::codec
