#include "server/assembly/serve.hpp"

#include <csignal>

#include <spdlog/spdlog.h>

#include "adapters/system/service_notify.hpp"
#include "server/assembly/front.hpp"

namespace muster::server {
namespace {

// Takes over what a running server can. Whoever reads a live setting only at its start is told
// here.
void Reload(Core& core, const Load& load, LogRing& log) {
  Foundation& foundation = core.foundation;
  auto fresh = load();
  if (!fresh) return spdlog::error("not reloaded, the settings stay: {}", fresh.error().message);
  const auto changes = settings::TakeLive(Describe(foundation.config), Describe(*fresh));
  for (const auto& change : changes) spdlog::info("reload {}", settings::Sentence(change));
  log.SetLevel(foundation.config.log_level);
  if (const auto used = foundation.actions->Use(foundation.config.outside); !used)
    spdlog::error("outside: {}; what was in force stays", used.error().message);
  if (const auto used = core.traces.Use(foundation.config.traces); !used)
    spdlog::error("{}; what was in force stays", used.error().message);
  spdlog::info("reloaded changes={}", settings::Tally(changes));
}

void ShutDown(Core& core, Front& front, int signal) {
  NotifyService("STOPPING=1");
  spdlog::info("shutting down signal={}", signal);
  front.StopAccepting();
  core.hub.Shutdown();
  // The batch in hand is finished off this thread: its effects still need the loop. Slow calls that
  // have all workers do not keep the server from stopping.
  core.workers.PostUrgent(
      [&core, &front] {
        front.Stop();
        core.engine.Stop();
        core.loop.Post([&core] { core.loop.Stop(); });
      },
      "stop");
}

void TellOfFirstStart(const Foundation& foundation) {
  if (!foundation.identity->fresh) return;
  const auto& data = foundation.config.data;
  spdlog::info(
      "first start: made CA, certificate and {}; without the CA key in this folder every agent "
      "is lost, so back it up now: musterd backup FILE --data {}",
      (data / "admin.token").string(), data.string());
}

}  // namespace

Result<> Serve(Config config, const Load& load, LogRing& log) {
  const auto foundation = Foundation::Lay(std::move(config));
  if (!foundation) return Fail(foundation.error());
  Core core(**foundation);
  if (const auto opened = core.OpenOffice(); !opened) return opened;
  Front front(core, log);
  if (const auto listens = front.Listen(); !listens) return listens;
  if (const auto started = core.Start(); !started) return started;
  TellOfFirstStart(**foundation);
  core.loop.OnSignal({SIGHUP}, [&](int) { Reload(core, load, log); });
  core.loop.OnSignal({SIGTERM, SIGINT}, [&](int signal) { ShutDown(core, front, signal); });
  NotifyService("READY=1");
  core.loop.Run();
  front.Stop();
  core.Stop();
  spdlog::info("stopped");
  return {};
}

}  // namespace muster::server
