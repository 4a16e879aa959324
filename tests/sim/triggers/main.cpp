#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "sim/triggers/trigger_world.hpp"

// muster-sim-triggers [--seeds N] [--seed S]: histories of triggers, each checked.
namespace {

std::uint64_t NumberOf(const char* text) {
  std::uint64_t number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

}  // namespace

int main(int count, char** words) {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string_view(words[i]) == "--seeds") seeds = NumberOf(words[i + 1]);
    if (std::string_view(words[i]) == "--seed") {
      first = NumberOf(words[i + 1]);
      seeds = 1;
    }
  }
  std::uint64_t starts = 0;
  std::uint64_t crashes = 0;
  std::uint64_t spoke = 0;
  std::uint64_t changes = 0;
  std::map<std::string, std::uint64_t> skips;
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failed < 3; ++seed) {
    muster::sim::TriggerWorld world(seed);
    const auto broken = world.Run();
    starts += world.starts();
    crashes += world.crashes;
    spoke += world.words().taken;
    changes += world.words().changes;
    for (const auto& [why, slots] : world.skips()) skips[why] += slots;
    if (broken.empty()) continue;
    ++failed;
    fmt::print("seed {}:\n", seed);
    for (const auto& words_of : broken) fmt::print("  {}\n", words_of);
  }
  fmt::print("{} seeds, {} crashes, {} slots started, {} runs spoke, {} changes told", seeds,
             crashes, starts, spoke, changes);
  for (const auto& [why, slots] : skips) fmt::print(", {} {}", slots, why);
  fmt::print("\n");
  return failed == 0 ? 0 : 1;
}
