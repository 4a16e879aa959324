// A main for fuzz targets in ordinary builds: every seed of the corpus as it is, then mutations of
// them, always the same ones.
//   NAME_fuzz CORPUS [ROUNDS [SEED]]
// When an input brings the program down, it is left in NAME_fuzz.crash.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kRounds = 20'000;
constexpr std::size_t kMostBytes = 4'096;
// On a slow machine, or under a sanitizer, fewer rounds will do.
constexpr std::chrono::seconds kLongest(8);

std::string crash_file;
std::string input;

void KeepInput() {
  const int fd = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, input.data(), input.size());
  close(fd);
}

void OnCrash(int signal) {
  KeepInput();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Try(std::string bytes) {
  input = std::move(bytes);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t seed)
      : seeds_(seeds), random_(seed) {}

  std::string Next() {
    std::string bytes = seeds_[Below(seeds_.size())];
    for (std::size_t steps = 1 + Below(4); steps > 0; --steps) Step(bytes);
    if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
    return bytes;
  }

 private:
  std::size_t Below(std::size_t most) { return most == 0 ? 0 : random_() % most; }

  void Step(std::string& bytes) {
    const std::size_t at = Below(bytes.size() + 1);
    const std::size_t length = Below(std::min<std::size_t>(bytes.size() - at, 16) + 1);
    switch (Below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_());
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.insert(at, std::string(1 + Below(40), static_cast<char>(random_())));
        break;
      case 5:
        bytes.resize(at);
        break;
      default: {
        const std::string& other = seeds_[Below(seeds_.size())];
        const std::size_t from = Below(other.size() + 1);
        bytes.replace(at, length, other.substr(from, Below(64)));
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

}  // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
extern "C" void __asan_on_error() { KeepInput(); }  // NOLINT: the sanitizer's own name
#endif
#endif

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS [ROUNDS [SEED]]\n", argv[0]);
    return 2;
  }
  crash_file = std::string(argv[0]) + ".crash";
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, OnCrash);

  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds in %s\n", argv[0], argv[1]);
    return 1;
  }
  for (const auto& seed : seeds) Try(seed);

  const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : kRounds;
  Mutator mutator(seeds, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  std::size_t done = 0;
  for (; done < rounds && (argc > 2 || std::chrono::steady_clock::now() < deadline); ++done)
    Try(mutator.Next());
  std::printf("%zu seeds, %zu mutations\n", seeds.size(), done);
  return 0;
}
