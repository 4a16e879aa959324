#pragma once

#include <string>

#include "base/result.hpp"
#include "documents/documents.hpp"
#include "domain/document.hpp"
#include "engine/command.hpp"
#include "ports/store.hpp"

// What the server does with documents of one kind alone, beyond what every kind has in common
// (documents/kinds.hpp). Each kind has its own file in kinds/ and a row in the table of
// kind_rules.cpp, if it has rules at all.
namespace muster::server {

class AppliedSet;
class ApplyWarnings;
struct AppliedFile;

// Any of them may be nullptr: there is nothing to do.
struct KindRules {
  documents::Kind kind;
  // Complains about what is wrong with a document that is applied. Names and time zones are looked
  // up for every kind. An error is the store's.
  Result<> (*check)(AppliedSet& set, const documents::Document& document) = nullptr;
  // Warns of a document that is right and perhaps not what was meant.
  void (*warn)(ApplyWarnings& warnings, const documents::Document& document) = nullptr;
  // Adds what is kept beside the document's text.
  void (*keep)(const documents::Document& document, const AppliedFile& file,
               Document& kept) = nullptr;
  // Adds what the engine needs beside the document, in the commit that puts or drops it.
  Result<> (*put)(Store& store, const documents::Document& document,
                  engine::ApplyDocuments& command) = nullptr;
  Result<> (*drop)(Store& store, const std::string& name,
                   engine::ApplyDocuments& command) = nullptr;
};

// Of a kind without a row: rules that do nothing.
const KindRules& RulesOf(documents::Kind kind);

KindRules JobRules();
KindRules HostRules();
KindRules GroupRules();
KindRules ChannelRules();
KindRules TriggerRules();

}  // namespace muster::server
