// The physical limit beside spawn: a bare loop of posix_spawn and wait, as many loops as there are
// processors, each with one process at a time.
//
//   spawn_raw [COUNT] [LOOPS]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

bool SpawnAndWait() {
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  char* env[] = {nullptr};
  pid_t pid = 0;
  int status = 0;
  return posix_spawn(&pid, program, nullptr, nullptr, argv, env) == 0 &&
         waitpid(pid, &status, 0) == pid && status == 0;
}

double CpuSeconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 2000;
  const int loops =
      argc > 2 ? std::atoi(argv[2]) : static_cast<int>(std::thread::hardware_concurrency());
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < loops; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < count / loops; ++n)
        if (!SpawnAndWait()) std::abort();
    });
  for (auto& thread : threads) thread.join();
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const int done = count / loops * loops;
  const double cpu = CpuSeconds(RUSAGE_SELF) + CpuSeconds(RUSAGE_CHILDREN);
  std::printf("bare_spawn_per_second %.0f\nbare_spawn_cpu_ms %.3f\n", done / took,
              cpu * 1000 / done);
  return 0;
}
