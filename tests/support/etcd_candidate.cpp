// A candidate in a process of its own, to be frozen and killed: etcd_candidate PREFIX NAME URL...
// Prints what it is told, with the moment by the kernel's clock, and each moment until which it may
// act: "elected 812", "until 2612", "lost 2613". Runs until it is killed.

#include <cstdio>
#include <poll.h>

#include "adapters/etcd/etcd_coordinator.hpp"
#include "adapters/system/system_clock.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  if (argc < 4) return 2;
  const SystemClock clock;
  EtcdOptions options{.endpoints = {argv + 3, argv + argc}, .prefix = argv[1]};
  auto made = EtcdCoordinator::Make(std::move(options), clock);
  if (!made) return 1;
  Coordinator& coordinator = **made;

  const auto say = [&](const char* what, MonoTime when) {
    std::printf("%s %lld\n", what, static_cast<long long>(when.ms));
    std::fflush(stdout);
  };
  const auto told = [&](const char* what) { return [=] { say(what, clock.Read().mono); }; };
  if (!coordinator.Campaign(argv[2], told("elected"), told("lost"))) return 1;
  MonoTime last;
  for (;;) {
    poll(nullptr, 0, 2);
    const MonoTime until = coordinator.LeadUntil();
    if (until != last) say("until", until);
    last = until;
  }
}
