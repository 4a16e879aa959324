// Next times per second over the expressions of a JSON list, as a scheduler asks: the next time
// after a given moment, which moves by 37 h 11 min. Prints "ZONE RATE" for each zone named after
// the file.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cron/next.hpp"

namespace {

using namespace muster;

// The texts of a JSON list of plain strings.
std::vector<std::string> TextsOf(const std::string& json) {
  std::vector<std::string> texts;
  for (std::size_t at = json.find('"'); at != std::string::npos;) {
    const std::size_t end = json.find('"', at + 1);
    texts.push_back(json.substr(at + 1, end - at - 1));
    at = json.find('"', end + 1);
  }
  return texts;
}

double NextPerSecond(const std::vector<cron::Schedule>& schedules, const cron::Zone& zone) {
  constexpr WallTime kBase{1'772'323'200'000};  // 2026-03-01
  constexpr Duration kStep = std::chrono::minutes(37 * 60 + 11);
  constexpr int kRounds = 20;
  std::int64_t sum = 0;  // so that nothing is optimised away
  std::size_t asked = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round)
    for (const auto& schedule : schedules)
      for (int i = 0; i < 500; ++i, ++asked)
        if (const auto next = cron::Next(schedule, zone, kBase + kStep * i)) sum += next->ms;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (sum == 0) std::fprintf(stderr, "cron: no next time at all\n");
  return static_cast<double>(asked) / spent.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: cron EXPRESSIONS.json ZONE...\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::vector<cron::Schedule> schedules;
  for (const auto& text : TextsOf({std::istreambuf_iterator<char>(file), {}})) {
    const auto schedule = cron::Parse(text);
    if (!schedule) {
      std::fprintf(stderr, "%s\n", cron::ToError(text, schedule.error()).message.c_str());
      return 1;
    }
    schedules.push_back(*schedule);
  }
  for (int i = 2; i < argc; ++i) {
    const auto zone = cron::LoadZone(argv[i]);
    if (!zone) {
      std::fprintf(stderr, "%s\n", zone.error().message.c_str());
      return 1;
    }
    NextPerSecond(schedules, *zone);  // warm up
    std::printf("%s %.0f\n", argv[i], NextPerSecond(schedules, *zone));
  }
  return 0;
}
