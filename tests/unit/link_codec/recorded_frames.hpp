#pragma once

#include <string>
#include <vector>

#include "link/codec/codec.hpp"

// What the frames under tests/data/link/0.1 say. Each kind of message of protocol 0.1 is in one of
// them, with every field set to something that is not its default.
namespace muster::link::recorded {

inline const TaskKey kTask{
    .run = RunId(12), .visit = Visit(1), .ordinal = 3, .host = HostId(7), .attempt = Attempt(2)};
inline const TaskKey kOther{.run = RunId(300),
                            .visit = Visit(2),
                            .ordinal = 70'000,
                            .host = HostId(7),
                            .attempt = Attempt(1)};

inline LogTotals Totals() {
  return {.bytes = 70'000,
          .dropped = 12,
          .gap = true,
          .stdout_sha256 = std::string(32, 'o'),
          .stderr_sha256 = std::string(32, 'e')};
}

inline TaskEnd End() {
  return {.state = TaskState::kFailed,
          .exit_code = 3,
          .signal = 9,
          .reason = "killed by signal 9",
          .leftovers = true,
          .started = WallTime{1'763'200'000'000},
          .ended = WallTime{1'763'200'004'250},
          .log = Totals()};
}

inline Command TheCommand() {
  return {.argv = {"/bin/echo", "a b", "\xff"},
          .script = "#!/bin/sh\necho hello\n",
          .interpreter = "/usr/bin/bash",
          .args = {"-x", ""},
          .stdin_data = std::string("in\0put", 6),
          .env = {{"LANG", "C.UTF-8"}, {"KEY", "\xfe"}},
          .masks = {"secret"},
          .user = "deploy",
          .folder = "/srv",
          .timeout = std::chrono::minutes(5),
          .grace = std::chrono::seconds(3),
          .max_output = 1 << 20,
          .kill_leftovers = true};
}

inline Order TheOrder() {
  return {.task = kTask,
          .session = 41,
          .term = Term(5),
          .start_by = 123'456,
          .needs = {"cgroups"},
          .stage = "command",
          .host_name = "web1",
          .command = std::make_shared<const Command>(TheCommand())};
}

inline std::vector<std::pair<std::string, NodeFrame>> NodeFrames() {
  NodeFrame hello{.session = 41};
  hello.hello = Hello{.version = "0.1.0",
                      .features = {"cgroups"},
                      .facts = {{"arch", "x86_64"}, {"os", "debian"}},
                      .store = "5f0c",
                      .boot = "b00t",
                      .session = 41,
                      .highest_term = Term(4),
                      .tasks = {{.task = kTask, .state = HeldState::kAccepted, .end = {}},
                                {.task = kOther, .state = HeldState::kRunning, .end = {}},
                                {.task = kTask, .state = HeldState::kEnded, .end = End()}},
                      .sent_at = 987'654};
  NodeFrame beat{.session = 41};
  beat.beat = Beat{.sent_at = 987'655, .running = 2};
  NodeFrame chunks{.session = 41};
  chunks.chunks = {{.task = kTask,
                    .offset = 0,
                    .stream = Stream::kStdout,
                    .time = WallTime{1'763'200'000'100},
                    .data = "hello\n"},
                   {.task = kTask,
                    .offset = 6,
                    .stream = Stream::kStderr,
                    .time = WallTime{1'763'200'000'200},
                    .data = std::string("\0\xff", 2)}};
  NodeFrame reports{.session = 41};
  reports.reports = {{.task = kTask, .kind = ReportKind::kStarted, .end = {}, .log = {}},
                     {.task = kOther, .kind = ReportKind::kRefusedLate, .end = {}, .log = {}},
                     {.task = kTask, .kind = ReportKind::kEnded, .end = End(), .log = {}},
                     {.task = kTask, .kind = ReportKind::kLogEnded, .end = {}, .log = Totals()}};
  return {{"node-hello", hello},
          {"node-beat", beat},
          {"node-chunks", chunks},
          {"node-reports", reports}};
}

inline std::vector<std::pair<std::string, ServerFrame>> ServerFrames() {
  ServerFrame say_hello;
  say_hello.say_hello = true;
  ServerFrame welcome;
  welcome.welcome = Welcome{
      .cluster = "c1",
      .term = Term(5),
      .session = 41,
      .host = HostId(7),
      .host_name = "web1",
      .server_time = 123'000,
      .echo = 987'654,
      .heartbeat = std::chrono::seconds(7),
      .answers = {
          {.task = kTask, .verb = Verb::kGoOn, .durable_offset = 512, .grace = {}},
          {.task = kOther, .verb = Verb::kKill, .durable_offset = 1, .grace = Duration(250)},
          {.task = kTask, .verb = Verb::kForget, .durable_offset = 0, .grace = {}}}};
  ServerFrame refusal;
  refusal.refusal = Refusal{.code = "revoked", .message = "host 'web1' was revoked"};
  ServerFrame beat;
  beat.beat = BeatAnswer{.echo = 987'655, .server_time = 123'100};
  ServerFrame orders;
  orders.orders = {TheOrder()};
  ServerFrame rest;
  rest.kills = {{.task = kTask, .grace = Duration(2500)}};
  rest.log_acks = {{.task = kTask, .offset = 6}};
  rest.forgets = {kTask, kOther};
  return {{"server-say-hello", say_hello}, {"server-welcome", welcome}, {"server-refusal", refusal},
          {"server-beat", beat},           {"server-orders", orders},   {"server-kills", rest}};
}

}  // namespace muster::link::recorded
