#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/shim/shim_lock.hpp"
#include "agent/tasks/shim_runner.hpp"
#include "base/text.hpp"
#include "temp_folder.hpp"

namespace muster::agent {

// A runner with real shims in a folder of its own, and what it called back.
class RunnerTest : public ::testing::Test {
 protected:
  struct Outcome {
    TaskEnd end;
    std::string out;
    std::string err;
    std::vector<LogChunk> chunks;
  };

  void SetUp() override { OpenRunner(); }

  // Scripts that a test left running would wait for its files for ever.
  void TearDown() override {
    runner_.reset();
    std::error_code problem;
    for (const auto& item : std::filesystem::directory_iterator("/proc", problem)) {
      const auto words = ReadFile(item.path() / "cmdline");
      const int pid = std::atoi(item.path().filename().c_str());
      if (pid > 0 && words && words->find(folder_.Path()) != std::string::npos)
        ::kill(pid, SIGKILL);
    }
  }

  void OpenRunner() {
    runner_.reset();
    ends_.clear();
    runner_ = MakeRunner();
    auto held = runner_->Recover();
    ASSERT_TRUE(held) << held.error().message;
    held_ = std::move(*held);
  }

  std::unique_ptr<ShimRunner> MakeRunner() {
    options_.data = folder_.Path();
    options_.executable = MUSTER_AGENT_BINARY;
    ProcessRunner::Events events;
    events.on_output = [this](const TaskKey& task, std::uint64_t bytes) { spooled_[task] = bytes; };
    events.on_end = [this](const TaskKey& task, const TaskEnd& end) {
      EXPECT_FALSE(ends_.contains(task)) << "ended twice";
      ends_[task] = end;
    };
    return std::make_unique<ShimRunner>(options_, std::move(events));
  }

  link::Order MakeOrder(Command command) {
    link::Order order;
    order.task = {RunId(++last_run_), Visit(1), 0, HostId(7), Attempt(1)};
    order.stage = "main";
    order.host_name = "web01";
    order.command = std::make_shared<const Command>(std::move(command));
    return order;
  }

  TaskKey Start(Command command) {
    const auto order = MakeOrder(std::move(command));
    const auto started = runner_->Start(order);
    EXPECT_TRUE(started) << started.error().message;
    return order.task;
  }

  // Serves the runner, if there is one, until the condition holds; false when it did not within a
  // minute.
  bool WaitFor(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      pollfd ready{runner_ ? runner_->Descriptor() : -1, POLLIN, 0};
      ::poll(&ready, 1, 20);
      if (runner_) runner_->Poll();
    }
    return true;
  }

  std::string OutputOf(const TaskKey& task, Stream stream) {
    std::string text;
    const auto chunks = runner_->Read(task, 0, SIZE_MAX);
    if (!chunks) return "unreadable: " + chunks.error().message;
    for (const auto& chunk : *chunks)
      if (chunk.stream == stream) text += chunk.data;
    return text;
  }

  bool WaitForOutput(const TaskKey& task, const std::string& text) {
    return WaitFor([&] { return OutputOf(task, Stream::kStdout).find(text) != std::string::npos; });
  }

  Outcome Await(const TaskKey& task) {
    Outcome outcome;
    if (!WaitFor([&] { return ends_.contains(task); })) {
      ADD_FAILURE() << "the task did not end";
      return outcome;
    }
    outcome.end = ends_[task];
    auto chunks = runner_->Read(task, 0, SIZE_MAX);
    EXPECT_TRUE(chunks);
    if (chunks) outcome.chunks = std::move(*chunks);
    for (const auto& chunk : outcome.chunks)
      (chunk.stream == Stream::kStdout ? outcome.out : outcome.err) += chunk.data;
    return outcome;
  }

  Outcome Run(Command command) { return Await(Start(std::move(command))); }

  static Command Script(std::string script) {
    Command command;
    command.script = std::move(script);
    command.folder = "/";
    return command;
  }

  Outcome RunScript(std::string script) { return Run(Script(std::move(script))); }

  std::string TaskPath(const TaskKey& task) const {
    return folder_.Path() + "/tasks/" + FolderName(task);
  }

  TempFolder folder_;
  ShimRunnerOptions options_;
  std::map<TaskKey, TaskEnd> ends_;
  std::map<TaskKey, std::uint64_t> spooled_;
  std::vector<ProcessRunner::Held> held_;
  std::unique_ptr<ShimRunner> runner_;
  std::uint64_t last_run_ = 0;
};

}  // namespace muster::agent
