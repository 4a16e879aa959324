// How fast the shim takes out of an output what differs from host to host, and hashes it. Budget:
// 300 MB/s for the masking, so that it costs a loud script less than its pipes do.
#include "agent/shim/line_mask.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

#include "agent/shim/masked_hash.hpp"

namespace {

// Of this process: the machine may have other work.
struct Clock {
  using duration = std::chrono::nanoseconds;
  static duration now() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
};

constexpr std::size_t kBytes = 64 << 20;

std::string Repeat(std::string_view lines) {
  std::string text;
  text.reserve(kBytes + lines.size());
  while (text.size() < kBytes) text += lines;
  return text;
}

double MegabytesPerSecond(std::size_t bytes, Clock::duration took) {
  return static_cast<double>(bytes) / 1e6 / std::chrono::duration<double>(took).count();
}

void Measure(const char* name, const muster::agent::LineMask& mask, const std::string& text) {
  std::string out;
  std::size_t sink = 0;
  auto begun = Clock::now();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    out.clear();
    mask.Mask(std::string_view(text).substr(at, end - at), out);
    sink += out.size();
    at = end;
  }
  const double masking = MegabytesPerSecond(text.size(), Clock::now() - begun);
  begun = Clock::now();
  muster::agent::MaskedHash hash(mask);
  hash.Add(text);
  sink += hash.Digest().size();
  const double hashing = MegabytesPerSecond(text.size(), Clock::now() - begun);
  std::printf("%-10s masking %6.0f MB/s   with SHA-256 %6.0f MB/s   (%zu)\n", name, masking,
              hashing, sink);
}

}  // namespace

int main() {
  const muster::agent::LineMask mask({.hosts = {"web-1.sh1.example", "web-1"}, .run = "r12"});
  Measure("prose", mask, Repeat("Reading package lists and building the dependency tree, done.\n"));
  Measure("syslog", mask,
          Repeat("2026-01-31T10:15:00.123+01:00 web-1 sshd[812]: Accepted publickey for root from "
                 "10.0.0.7 port 50122 ssh2\n"));
  Measure("numbers", mask, Repeat("12 345 6789 0x1f 1.5 99% 10:15 3/4 7-8 1234567890 0 1 2 3\n"));
  Measure("hex", mask, Repeat("deadbeef cafe:babe fe80::1 aa bb cc dd ee ff 00:11:22:33:44:55\n"));
  return 0;
}
