#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "adapters/sqlite/folder_lock.hpp"
#include "base/activity.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/config.hpp"

namespace muster::server {

// Where this server keeps things, and by what it finds the others: as its settings say.
struct Stores {
  sqlite::FolderLock folder;  // of the data folder, where the store itself does not hold it
  std::unique_ptr<Store> records;
  std::unique_ptr<LogStore> logs;
  std::function<std::vector<base::Activity::View>()> activities;  // of their threads
};
// `clock` must outlive them.
Result<Stores> OpenStores(const Config& config, const Clock& clock);

// `clock` must outlive it.
Result<std::unique_ptr<Coordinator>> OpenCoordinator(const Config& config, const Clock& clock);

// The server's name in its cluster: the settings', or the machine's.
std::string NameOf(const Config& config);

}  // namespace muster::server
