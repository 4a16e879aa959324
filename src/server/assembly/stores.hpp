#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/postgres/options.hpp"
#include "adapters/sqlite/folder_lock.hpp"
#include "base/activity.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/settings/config.hpp"

namespace muster::server {

// Where this server keeps things, and by what it finds the others: as its settings say.
struct Stores {
  sqlite::FolderLock folder;  // of the data folder, where the store itself does not hold it
  std::unique_ptr<Store> records;
  std::unique_ptr<LogStore> logs;
  std::function<std::vector<base::Activity::View>()> activities;  // of their threads
};
// How the settings reach PostgreSQL; without an address when records are in the data folder.
PostgresOptions PostgresOptionsOf(const StoreConfig& store);

// What is wrong with the settings of etcd and PostgreSQL, as far as that shows without a word to
// either: an address that leads over a network without TLS, a file that cannot be read, a key that
// is not the certificate's. kInvalid says what to write.
Result<> CheckBackends(const Config& config);

// Risks that the settings take, a sentence each: for the log at a start, and for stderr.
std::vector<std::string> BackendWarnings(const Config& config);
void WarnOfBackends(const Config& config);  // on stderr

// `clock` must outlive them.
Result<Stores> OpenStores(const Config& config, const Clock& clock);

// `clock` must outlive it.
Result<std::unique_ptr<Coordinator>> OpenCoordinator(const Config& config, const Clock& clock);

// The server's name in its cluster: the settings', or the machine's.
std::string NameOf(const Config& config);

}  // namespace muster::server
