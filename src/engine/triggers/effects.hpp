#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "domain/records.hpp"
#include "engine/kinds.hpp"
#include "ports/store.hpp"

// What triggers ask of the server.
namespace muster::engine {

// A slot is due: the server plans its run and answers with FireSlot, also when that fails.
// Asked again when the answer does not come.
struct PrepareSlot {
  std::string trigger;
  std::uint32_t version = 0;
  WallTime slot;
  std::uint64_t act = 0;
  std::shared_ptr<const TriggerSpec> spec;
  std::map<std::string, std::string> data;  // that its runs carry on
  bool find_author = false;                 // of the trigger: its row does not say
};

// Triggers come near: the server reads them (Store::DueTriggers) and answers with
// TakeTriggers. Asked again when the answer does not come.
struct FetchTriggers {
  DueCursor after;
  std::int64_t until = 0;
  std::size_t limit = 0;
};

using WorkOfTriggers = Kinds<PrepareSlot, FetchTriggers>;

}  // namespace muster::engine
