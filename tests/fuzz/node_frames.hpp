#pragma once

#include <string>
#include <vector>

#include "fuzz/choices.hpp"
#include "link/messages.hpp"

// Frames of a node as an input decides: of the right form and about tasks that exist, so that they
// reach what lies behind the decoder.
namespace muster::fuzz {

inline TaskKey PickTask(Choices& choices, const std::vector<TaskKey>& known) {
  TaskKey task;
  if (!known.empty()) task = known[choices.Below(known.size())];
  switch (choices.Below(8)) {
    case 0:
      task.run = RunId(choices.Number());
      break;
    case 1:
      task.visit = Visit(static_cast<std::uint32_t>(choices.Number()));
      break;
    case 2:
      task.ordinal = static_cast<decltype(task.ordinal)>(choices.Number());
      break;
    case 3:
      task.host = HostId(choices.Number());
      break;
    case 4:
      task.attempt = Attempt(static_cast<std::uint32_t>(choices.Number()));
      break;
    default:
      break;  // as it is
  }
  return task;
}

inline LogTotals PickTotals(Choices& choices) {
  LogTotals totals;
  totals.bytes = choices.Number();
  totals.dropped = choices.Number();
  totals.gap = choices.Yes();
  totals.stdout_sha256 = choices.Yes() ? kEmptySha256 : std::string(choices.Short());
  totals.stderr_sha256 = kEmptySha256;
  return totals;
}

inline TaskEnd PickEnd(Choices& choices) {
  TaskEnd end;
  end.state = static_cast<TaskState>(choices.Below(kTaskStates));
  end.exit_code = static_cast<int>(choices.Number());
  end.signal = static_cast<int>(choices.Below(70));
  end.reason = choices.Short();
  end.ended = WallTime{static_cast<std::int64_t>(choices.Number())};
  if (choices.Yes()) end.log = PickTotals(choices);
  if (choices.Yes()) end.outputs = {{std::string(choices.Short()), std::string(choices.Short())}};
  return end;
}

inline link::Hello PickHello(Choices& choices, const std::vector<TaskKey>& known) {
  link::Hello hello;
  hello.version = choices.Yes() ? "0.1.0" : std::string(choices.Short());
  hello.store = choices.Yes() ? "store" : std::string(choices.Short());
  hello.boot = choices.Yes() ? "boot" : std::string(choices.Short());
  hello.session = choices.Number();
  hello.highest_term = Term(choices.Number());
  hello.has_others = choices.Yes();
  if (choices.Yes()) hello.facts[std::string(choices.Short())] = choices.Short();
  for (std::size_t count = choices.Below(6); count > 0; --count) {
    link::HeldTask held;
    held.task = PickTask(choices, known);
    held.state = static_cast<link::HeldState>(1 + choices.Below(3));
    if (held.state == link::HeldState::kEnded) held.end = PickEnd(choices);
    hello.tasks.push_back(std::move(held));
  }
  return hello;
}

inline link::Report PickReport(Choices& choices, const std::vector<TaskKey>& known) {
  link::Report report;
  report.task = PickTask(choices, known);
  report.kind = static_cast<link::ReportKind>(1 + choices.Below(4));
  if (report.kind == link::ReportKind::kEnded) report.end = PickEnd(choices);
  if (report.kind == link::ReportKind::kLogEnded) report.log = PickTotals(choices);
  return report;
}

inline link::NodeFrame PickNodeFrame(Choices& choices, const std::vector<TaskKey>& known,
                                     std::uint64_t session) {
  link::NodeFrame frame;
  frame.session = choices.Below(4) == 0 ? choices.Number() : session;
  const std::uint8_t parts = choices.Byte();
  if ((parts & 1) != 0) frame.hello = PickHello(choices, known);
  if ((parts & 2) != 0)
    frame.beat = link::Beat{static_cast<std::int64_t>(choices.Number()),
                            static_cast<std::uint32_t>(choices.Number())};
  if ((parts & 4) != 0)
    for (std::size_t count = 1 + choices.Below(3); count > 0; --count) {
      LogChunk chunk;
      chunk.task = PickTask(choices, known);
      chunk.offset = choices.Number();
      chunk.stream = choices.Yes() ? Stream::kStdout : Stream::kStderr;
      chunk.data = std::string(choices.Number() % 1200, 'x');
      frame.chunks.push_back(std::move(chunk));
    }
  if ((parts & 8) != 0)
    for (std::size_t count = 1 + choices.Below(4); count > 0; --count)
      frame.reports.push_back(PickReport(choices, known));
  if ((parts & 16) != 0) frame.renew = choices.Short();
  return frame;
}

}  // namespace muster::fuzz
