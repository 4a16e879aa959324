#include "server/api/status.hpp"

#include <boost/json.hpp>

#include "server/api/gauge.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

json::value KeptFor(Duration duration) {
  return duration.count() == 0 ? json::value(nullptr) : json::value(duration.count());
}

json::value BackupView(const std::optional<LastBackup>& backup) {
  if (!backup) return nullptr;
  return {{"at", TimeView(backup->taken)}, {"bytes", backup->bytes}, {"file", backup->file}};
}

json::value RestoredView(const std::optional<Snapshot::Restored>& restored) {
  if (!restored) return nullptr;
  return {{"at", TimeView(restored->at)},
          {"backup", TimeView(restored->taken)},
          {"logs", restored->logs}};
}

}  // namespace

json::object KeepingView(Services& services) {
  const auto kept = services.keeper.GetStatus();
  const auto engine = services.engine.GetStatus();
  json::array gates;
  for (const auto& [gate, reason] : engine.gates)
    gates.push_back(json::object{{"gate", gate}, {"reason", reason}});
  const WallTime now = services.clock.Read().wall;
  json::array freezes;
  for (const auto& freeze : engine.freezes)
    if (!freeze.OverAt(now))
      freezes.push_back(json::object{{"id", FormatFreezeId(freeze.id)},
                                     {"scope", Name(freeze.scope)},
                                     {"targets", freeze.targets},
                                     {"job", freeze.job},
                                     {"by", freeze.by},
                                     {"reason", freeze.reason},
                                     {"until", TimeView(freeze.until)}});
  return {{"disk",
           {{"folder", kept.data.string()},
            {"free_bytes", kept.disk_free},
            {"total_bytes", kept.disk_total},
            {"stop_runs_below_bytes", kept.disk_floor},
            {"low", kept.disk_low},
            {"full", kept.disk_full}}},
          {"last_backup", BackupView(kept.backup)},
          {"restored", RestoredView(engine.restored)},
          {"retention",
           {{"logs_ms", KeptFor(kept.retention.logs)},
            {"runs_ms", KeptFor(kept.retention.runs)},
            {"audit_ms", KeptFor(kept.retention.audit)},
            {"files_ms", KeptFor(kept.retention.files)}}},
          {"certificates",
           {{"server", TimeView(services.server_cert_ends())},
            {"ca", TimeView(services.identity.ca_ends)}}},
          {"gates", std::move(gates)},
          {"freezes", std::move(freezes)}};
}

void AddKeepingMetrics(Services& services, std::vector<prometheus::MetricFamily>& families) {
  const auto kept = services.keeper.GetStatus();
  families.push_back(Gauge("muster_last_backup_timestamp_seconds",
                           "When the last backup was taken; 0 is never",
                           kept.backup ? static_cast<double>(kept.backup->taken.ms) / 1000 : 0));
  families.push_back(Gauge("muster_disk_free_bytes", "Room on the disk of the data folder",
                           static_cast<double>(kept.disk_free)));
  families.push_back(
      Gauge("muster_disk_low", "1 while new runs are refused for want of room", kept.disk_low));
}

}  // namespace muster::server::api
