#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "documents/documents.hpp"
#include "server/planning/inventory.hpp"
#include "server/planning/job_book.hpp"

namespace muster::server {

// Sentences for people about documents that are right and perhaps not what was meant: hosts may
// choose themselves who gets a job's secrets, a group or a trigger names hosts that are neither
// known nor declared, a trigger's only moment has passed.
class ApplyWarnings {
 public:
  static constexpr std::size_t kMostUnknownNames = 500;  // bytes
  static constexpr std::size_t kMostHostWarnings = 20;

  // Documents that are applied together; they outlive it.
  ApplyWarnings(const Inventory& inventory, WallTime now,
                const std::vector<documents::Document>& puts);

  std::vector<std::string> Take() &&;

  // For the rules of kinds (kind_rules.hpp).
  const Inventory& inventory() const { return inventory_; }
  WallTime now() const { return now_; }
  // Names of hosts that documents declare: these, and those that are kept and never joined.
  const std::set<std::string>& DeclaredNames();
  // A job that the document starts, and where.
  struct Start {
    const std::string& job;
    const std::string& targets;  // "": what the job says
    const std::string& exclude;
  };
  void OfSecrets(const documents::Document& document, const Start& start);
  void Add(std::string sentence);  // "" is none
  std::size_t Count() const { return others_.size(); }

 private:
  const Inventory inventory_;
  const WallTime now_;
  const std::vector<documents::Document>& puts_;
  JobBook book_;
  std::optional<std::set<std::string>> declared_;
  std::vector<std::string> secrets_;
  std::vector<std::string> others_;
};

}  // namespace muster::server
