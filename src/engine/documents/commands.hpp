#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/channel.hpp"
#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "ports/store.hpp"

// Commands about documents, and their answers.
namespace muster::engine {

// A trigger's document among those that are applied or dropped.
struct AppliedTrigger {
  std::shared_ptr<const TriggerSpec> spec;  // as read from it; nothing with a drop
  ReadAt<std::optional<Trigger>> known;     // looked up just before
  bool paused = false;                      // how a new one begins; nothing to one that is there
};

// What became of each document, in the order of the command: puts, then drops.
enum class DocumentFate : std::uint8_t { kCreated, kChanged, kUnchanged, kDeleted, kMissing };

struct DocumentsApplied {
  struct One {
    std::string kind;
    std::string name;
    std::uint32_t version = 0;  // the latest now; of a deleted one the last
    DocumentFate fate = DocumentFate::kUnchanged;
  };
  std::vector<One> documents;
};

// Puts new versions of documents in the place of the old, and takes others away; all of it in one
// batch. What says the same as before is left as it is.
struct ApplyDocuments {
  using Answer = DocumentsApplied;

  Caller caller;
  std::vector<std::shared_ptr<const Document>> puts;       // without version, by and at
  std::vector<std::pair<std::string, std::string>> drops;  // kind and name
  std::string reason;
  std::map<std::string, AppliedTrigger> triggers = {};  // one for each of `kind: trigger`, by name
  std::map<std::string, Channel> channels = {};         // one for each put of `kind: channel`
};

using DocumentCommands = Kinds<ApplyDocuments>;

}  // namespace muster::engine
