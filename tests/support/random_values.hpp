#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/host.hpp"
#include "domain/task.hpp"

namespace muster {

// Draws values with any content a link may meet. The same seed draws the same.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t Number(std::uint64_t below) { return engine_() % below; }
  bool Coin() { return Number(2) == 1; }
  WallTime Time() {
    return Coin() ? WallTime{} : WallTime{1'700'000'000'000 + int64_t(Number(1ULL << 36))};
  }
  Duration Span() { return Duration(Number(100'000'000)); }

  std::string Bytes(std::size_t most) {
    std::string bytes(Number(most + 1), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(Number(256));
    return bytes;
  }
  std::string Text(std::size_t most = 12) {
    static const std::vector<std::string> kLetters{"a",  "Z", "0", " ",  "'",
                                                   "\"", "ä", "→", "\n", "-"};
    std::string text;
    for (std::size_t left = Number(most + 1); left > 0; --left)
      text += kLetters[Number(kLetters.size())];
    return text;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts(Number(4));
    for (auto& text : texts) text = Text();
    return texts;
  }
  Labels SomeLabels() {
    Labels labels;
    for (std::size_t left = Number(4); left > 0; --left) labels[Text()] = Text();
    return labels;
  }
  std::string Hash() {
    if (Coin()) return kEmptySha256;
    std::string hash(32, '\0');
    for (auto& byte : hash) byte = static_cast<char>(Number(256));
    return hash;
  }

  TaskKey Key() {
    return {.run = RunId(1 + Number(1000)),
            .visit = Visit(1 + Number(3)),
            .ordinal = static_cast<std::uint32_t>(Number(20'000)),
            .host = HostId(1 + Number(20'000)),
            .attempt = Attempt(1 + Number(3))};
  }
  LogTotals Totals() {
    return {.bytes = Number(1 << 30),
            .dropped = Coin() ? 0 : Number(1 << 30),
            .gap = Coin(),
            .stdout_sha256 = Hash(),
            .stderr_sha256 = Hash(),
            .masked_sha256 = Coin() ? "" : Hash()};
  }
  TaskEnd End() {
    static constexpr TaskState kEnds[] = {TaskState::kSucceeded, TaskState::kFailed,
                                          TaskState::kTimedOut,  TaskState::kKilled,
                                          TaskState::kLost,      TaskState::kRefused};
    TaskEnd end{.state = kEnds[Number(6)],
                .exit_code = static_cast<int>(Number(256)) - 1,
                .signal = static_cast<int>(Number(20)),
                .reason = Text(),
                .leftovers = Coin(),
                .peak_memory = Number(1ULL << 40),
                .started = Time(),
                .ended = Time(),
                .log = {}};
    if (Coin()) end.log = Totals();
    for (std::size_t left = Number(4); left > 0; --left)
      end.outputs.emplace_back("name_" + std::to_string(left), Text());
    return end;
  }
  Command SomeCommand() {
    Command command{.argv = Texts(),
                    .script = Bytes(2000),
                    .interpreter = Text(),
                    .args = Texts(),
                    .stdin_data = Bytes(100),
                    .env = {},
                    .masks = {Bytes(8), Bytes(8)},
                    .user = Text(),
                    .folder = Text(),
                    .timeout = Span(),
                    .grace = Span(),
                    .max_output = Number(1ULL << 40),
                    .kill_leftovers = Coin(),
                    .resources = {.memory = Coin() ? 0 : Number(1ULL << 40),
                                  .cpu = static_cast<std::uint32_t>(Number(4000)),
                                  .processes = static_cast<std::uint32_t>(Number(100))}};
    for (const auto& key : Texts()) command.env.emplace_back(key, Bytes(10));
    if (Coin()) command.reboot = std::make_shared<const Reboot>(Reboot{.argv = Texts()});
    return command;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace muster
