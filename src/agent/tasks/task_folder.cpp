#include "agent/tasks/task_folder.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "link/codec/codec.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kOrderTag = "muster order 1\n";
constexpr std::string_view kExitTag = "muster exit 1\n";
constexpr std::size_t kMaxReason = 1000;

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

// The record's text must be UTF-8, but a reason may quote a file name, which need not be.
std::string CleanReason(std::string reason) {
  if (reason.size() > kMaxReason) reason.resize(kMaxReason);
  if (!IsUtf8(reason))
    for (char& byte : reason)
      if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
  return reason;
}

}  // namespace

std::string FolderName(const TaskKey& task) {
  std::string name = FormatTaskKey(task);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::optional<TaskKey> ParseFolderName(std::string_view name) {
  const auto parts = Split(name, '-');
  if (parts.size() != 5 || !parts[3].starts_with('h')) return {};
  const auto run = ParseRunId(parts[0]);
  const auto visit = ParseNumber<std::uint32_t>(parts[1]);
  const auto ordinal = ParseNumber<std::uint32_t>(parts[2]);
  const auto host = ParseNumber<std::uint64_t>(parts[3].substr(1));
  const auto attempt = ParseNumber<std::uint32_t>(parts[4]);
  if (!run || !visit || !ordinal || !host || !attempt) return {};
  const TaskKey task{*run, Visit(*visit), *ordinal, HostId(*host), Attempt(*attempt)};
  if (FolderName(task) != name) return {};
  return task;
}

std::string EncodeOrderRecord(std::string_view boot, const link::Order& order) {
  return fmt::format("{}{}\n", kOrderTag, boot) + link::EncodeOrder(order);
}

Result<OrderRecord> ParseOrderRecord(std::string_view bytes) {
  const auto end = bytes.find('\n', kOrderTag.size());
  if (!bytes.starts_with(kOrderTag) || end == std::string_view::npos)
    return Fail(ErrorCode::kInvalid, "the order file is damaged");
  auto order = link::DecodeOrder(bytes.substr(end + 1));
  if (!order) return Fail(order.error());
  if (!order->command) return Fail(ErrorCode::kInvalid, "the order has no command");
  return OrderRecord{std::string(bytes.substr(kOrderTag.size(), end - kOrderTag.size())),
                     std::move(*order)};
}

std::string EncodeExitRecord(const TaskKey& task, const TaskEnd& end) {
  MUSTER_CHECK(end.log.has_value());
  TaskEnd clean = end;
  clean.reason = CleanReason(std::move(clean.reason));
  const std::string body = link::EncodeKeptEnd(task, clean);
  return fmt::format("{}{}\n", kExitTag, body.size()) + body;
}

Result<TaskEnd> ParseExitRecord(const TaskKey& task, std::string_view bytes) {
  const auto damaged = [] { return Fail(ErrorCode::kInvalid, "the exit record is damaged"); };
  const auto line_end = bytes.find('\n', kExitTag.size());
  if (!bytes.starts_with(kExitTag) || line_end == std::string_view::npos) return damaged();
  const auto size =
      ParseNumber<std::size_t>(bytes.substr(kExitTag.size(), line_end - kExitTag.size()));
  const auto body = bytes.substr(line_end + 1);
  if (!size || *size > body.size() || body.find_first_not_of('\0', *size) != body.npos)
    return damaged();
  auto kept = link::DecodeKeptEnd(body.substr(0, *size));
  if (!kept) return Fail(kept.error());
  if (!IsFinal(kept->end.state) || !kept->end.log) return damaged();
  if (kept->task.value_or(task) != task)
    return Fail(ErrorCode::kInvalid, "the exit record is of another task, {}",
                FormatTaskKey(*kept->task));
  return std::move(kept->end);
}

std::string EncodeKillWish(Duration grace) { return fmt::format("{}\n", grace.count()); }

std::optional<Duration> ParseKillWish(std::string_view bytes) {
  const auto grace = ParseNumber<std::int64_t>(Trim(bytes));
  if (!grace) return {};
  return Duration(std::max<std::int64_t>(*grace, 0));
}

}  // namespace muster::agent
