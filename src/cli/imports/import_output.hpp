#pragma once

#include <set>
#include <span>
#include <string>

#include "base/result.hpp"
#include "cli/context.hpp"

// What the imports of documents do alike: files for a folder, documents for the server.
namespace muster::cli {

struct ImportFlags {
  std::string folder;
  std::string reason;
  bool apply = false;
  bool dry_run = false;
  bool force = false;
};
void AddImportFlags(CLI::App& command, ImportFlags& flags, std::string_view each);
Result<> CheckImportFlags(const ImportFlags& flags);

struct ImportedText {
  std::string name;  // of its file, without ".yaml"
  std::string text;  // one or several documents
};

// A file for each, all or none: kConflict when one says something else already, and no --force.
Result<> WriteImported(const ImportFlags& flags, std::span<const ImportedText> texts);

// All or none of them; says what became of each. The exit code. kConflict, and nothing is applied:
// a document would replace one that says something else, and no --force. `may_change` has those
// ("trigger NAME") that keep what is there and may change all the same.
Result<int> ApplyImported(const Context& context, const ImportFlags& flags,
                          std::span<const ImportedText> texts,
                          const std::set<std::string>& may_change = {});

// The refusal of documents that would replace others, "job a" for each; none when the list is
// empty.
Result<> RefuseChanges(std::span<const std::string> documents);

}  // namespace muster::cli
