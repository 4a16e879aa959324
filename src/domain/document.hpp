#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "domain/command.hpp"
#include "domain/host.hpp"

namespace muster {

// One version of a document that people apply (`kind: job`, …): its source and everything that came
// with it, so that reading it again needs nothing else. A version never changes; the next is one
// more, also after the document was deleted and came back.
struct Document {
  std::string kind;  // "job"
  std::string name;
  std::uint32_t version = 0;                                  // from 1; the engine gives it
  std::string hash;                                           // 32 bytes; equal ones say the same
  std::string text;                                           // YAML, as it was written
  std::map<std::string, std::string> attachments = {};        // script files, by their paths
  std::map<std::string, std::vector<FileEntry>> pushes = {};  // pushed files, by their paths
  Labels labels = {};                                         // of `kind: host`
  std::string by = {};                                        // who applied it
  WallTime at = {};

  friend bool operator==(const Document&, const Document&) = default;
};

// The latest version of a document, or the last one before it was deleted.
// Triggers have none that a leader loads: there may be a million of them, and their rows say the
// same.
struct DocumentHead {
  std::string kind;
  std::string name;
  std::uint32_t version = 0;
  std::string hash;
  bool dropped = false;
  Labels labels = {};              // of `kind: host`
  std::vector<std::string> files;  // hashes of what it pushes, ascending, none twice
  std::string by = {};             // who applied this version
  WallTime at = {};

  friend bool operator==(const DocumentHead&, const DocumentHead&) = default;
};

inline constexpr std::string_view kTriggerKind = "trigger";

DocumentHead HeadOf(const Document& document);

}  // namespace muster
