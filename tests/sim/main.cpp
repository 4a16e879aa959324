// muster-sim: plays seeded histories of the whole engine under faults and checks the promises.
//
//   muster-sim --seeds 500 [--first 1]     play many; the first broken promise names its seed
//   muster-sim --seed 123 --trace          play one again and print what happened
//   muster-sim --servers 3 ...             the same with a cluster of servers

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/history.hpp"
#include "sim/world.hpp"

int main(int argc, char** argv) {
  std::uint64_t first = 1;
  std::uint64_t seeds = 500;
  int servers = 1;
  bool trace = false;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--trace") == 0) {
      trace = true;
    } else if (std::strcmp(argv[i], "--seeds") == 0 && has_value) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--servers") == 0 && has_value) {
      servers = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--first") == 0 && has_value) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && has_value) {
      first = std::strtoull(argv[++i], nullptr, 10);
      seeds = 1;
    } else {
      std::fprintf(
          stderr, "usage: muster-sim [--servers N] [--seeds N] [--first S] | --seed S [--trace]\n");
      return 2;
    }
  }
  muster::sim::Summary total;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    try {
      const auto one = muster::sim::PlayHistory(seed, servers, trace);
      total.events += one.events;
      total.hosts += one.hosts;
      total.runs += one.runs;
      total.processes += one.processes;
    } catch (const muster::sim::Violation& violation) {
      std::printf("seed %llu: %s\n  replay: muster-sim --servers %d --seed %llu --trace\n",
                  static_cast<unsigned long long>(seed), violation.what(), servers,
                  static_cast<unsigned long long>(seed));
      if (++failed >= 5) break;
    }
  }
  std::printf("%llu histories: %zu hosts, %zu runs, %zu processes, %llu events\n",
              static_cast<unsigned long long>(seeds), total.hosts, total.runs, total.processes,
              static_cast<unsigned long long>(total.events));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(seeds - failed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
