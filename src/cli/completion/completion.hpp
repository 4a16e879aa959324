#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/client/connection.hpp"

namespace CLI {
class App;
}

namespace muster::cli {

// The words of a command line up to the cursor, as a shell would see them; the last is the one the
// cursor is in, perhaps empty. An open quote counts as closed at the end.
struct TypedLine {
  std::vector<std::string> words;
  bool quoted = false;  // the cursor is inside quotes
};
TypedLine SplitTyped(std::string_view line);

// What may stand where the cursor is. Told by the option's type name: FILE, DIR, EXPR, HOST, RUN,
// CONTEXT, JOB, SECRET, TOKEN, DOCUMENT (of the kind in the word before it), KIND, the name of any
// other kind of documents (TRIGGER, CHANNEL, …), or a set of words.
enum class ValueKind {
  kNothing,
  kFiles,
  kTargets,
  kHosts,
  kRuns,
  kContexts,
  kJobs,
  kSecrets,
  kTokens,
  kDocuments,
  kWords
};

struct Candidate {
  std::string value;
  std::string about;
};

struct Wanted {
  ValueKind kind = ValueKind::kNothing;
  std::string head;              // of the word, before what is completed: "--host="
  std::string text;              // what is completed
  std::vector<Candidate> words;  // for kWords
  std::string before;            // of kDocuments: their kind, as one or as many
  ConnectionOptions flags;       // what the line says about the server
};

// What to offer for the last of `words` (the first is the program). Walks the commands of `root`;
// never fails, a line it does not understand wants nothing.
Wanted WantedAt(const CLI::App& root, const std::vector<std::string>& words);

// The part of a target expression that is being typed begins here: "a,zone=s" -> 2.
std::size_t TermBegin(std::string_view expression);

}  // namespace muster::cli
