#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "domain/command.hpp"
#include "domain/host.hpp"
#include "domain/param.hpp"
#include "domain/run.hpp"
#include "domain/trigger.hpp"

// What people keep in files and apply: YAML documents with `apiVersion: muster/v1` and a `kind`.
// Reading is pure: the same texts give the same documents, and whatever is wrong with them is said
// at once, each with its place. docs/jobs/reference.md has every key.
namespace muster::documents {

// As an editor counts: both from 1, columns in characters.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// A file a job refers to, by a path relative to its document.
struct FileReference {
  enum class Use : std::uint8_t {
    kScript,  // read already, into Command::script
    kPush,    // a file or folder, which the caller looks up and fills in with SetPushFiles
  };

  Use use = Use::kScript;
  std::uint32_t stage = 0;  // in RunSpec::stages
  std::string path;
  Position position;

  friend bool operator==(const FileReference&, const FileReference&) = default;
};

struct JobDocument {
  std::string name;
  std::string description;
  std::string owner;
  std::vector<ParamSpec> params;
  std::string targets;  // "" when whoever starts it must say
  // A start on more hosts than these is refused: a number, a percentage of all hosts, or both.
  std::optional<std::uint32_t> max_hosts;
  std::optional<std::uint32_t> max_percent;
  // Without version, params and jobs, which belong to a start. A limit whose key names a host
  // stands at the stages it is for, every other at the run, wherever the document has it.
  RunSpec spec;
  std::vector<FileReference> files;  // in the order of the document
};

struct HostDocument {
  std::string name;
  Labels labels;
};

// Either an expression or names.
struct GroupDocument {
  std::string name;
  std::string description;
  std::string targets;
  std::vector<std::string> hosts;
};

enum class ChannelType : std::uint8_t {
  kWebhook,  // a JSON object is posted to `url`
  kChat,     // {"text": …} is posted to `url`
  kSmtp,     // a mail
};

// Where notices go. `url`, the values of `headers` and `password` may be "secret:NAME".
struct ChannelDocument {
  std::string name;
  std::string description;
  ChannelType type = ChannelType::kWebhook;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string server;  // "host" or "host:port"
  std::string from;
  std::vector<std::string> to;
  std::string user;
  std::string password;
  std::string subject;  // of a mail; "" is the message's first line
  std::string tls;      // "starttls", "tls", "none"; "" is starttls
};

// What starts runs of a job, and when.
struct TriggerDocument {
  std::string name;
  std::string description;
  TriggerSpec spec;
  bool paused = false;  // how it begins its life; nothing to a trigger that is there
};

enum class Kind : std::uint8_t { kJob, kHost, kGroup, kChannel, kTrigger };
std::string_view Name(Kind kind) noexcept;  // "job"
std::optional<Kind> ParseKind(std::string_view name) noexcept;
std::string_view Name(ChannelType type) noexcept;

struct Document {
  std::string file;   // it came from
  Position position;  // of its first key
  std::string text;   // its own, without the `---` lines around it
  std::variant<JobDocument, HostDocument, GroupDocument, ChannelDocument, TriggerDocument> body;
};

Kind KindOf(const Document& document) noexcept;
const std::string& NameOf(const Document& document) noexcept;

// The document as YAML: its own text, so that comments and order survive.
std::string Format(const Document& document);

// SHA-256 (32 bytes) of what the document says, its scripts and pushed files included. Two with the
// same hash are the same.
std::string ContentHash(const Document& document);

// A text with one or several documents, and what to call it in messages.
struct Source {
  std::string file;
  std::string text;
};

// Gives the content of a script file. `document` is Source::file, `path` is relative to it; it may
// hold "..", and links may stand in it: the reader keeps to its folder.
using ScriptReader =
    std::function<Result<std::string>(const std::string& document, const std::string& path)>;

struct Problem {
  std::string file;
  Position position;
  std::string sentence;
};
std::string Written(const Problem& problem);  // "jobs/web.yaml:7:5: unknown key …"

struct Reading {
  std::vector<Document> documents;  // those without problems, in order
  std::vector<Problem>
      problems;  // in order; at most kMaxProblems of a document and one that counts
};
constexpr std::size_t kMaxProblems = 20;
constexpr std::size_t kMaxDocumentBytes = 1 << 20;

// Reads documents that are applied together: two of one kind and name are a problem.
Reading ReadDocuments(std::span<const Source> sources, const ScriptReader& scripts);

// The same, all or nothing. kInvalid: one line for each problem.
Result<std::vector<Document>> ReadAll(std::span<const Source> sources, const ScriptReader& scripts);

// Puts what was found for a kPush reference into its stage. `tree`: it is a folder.
void SetPushFiles(JobDocument& job, const FileReference& reference, std::vector<FileEntry> files,
                  bool tree);

// The parameters of a run: what was given, checked, and the defaults of the rest, in the order of
// the job. Those without either are left out. kInvalid, one line for each: missing and required, no
// such parameter, not of its type, not matching its pattern, a literal where a secret's name is
// due.
Result<std::vector<Param>> ResolveParams(
    const JobDocument& job, const std::vector<std::pair<std::string, std::string>>& given);

// What the parameters of a trigger's next run are made of, for ResolveParams.
struct SlotParams {
  std::vector<std::pair<std::string, std::string>> given;
  std::vector<std::string> refused;  // carried, and not taken as the job's rules do not allow it
};
// The trigger's own, and what its runs carry (`data`) for those that it names in `carry`. Hosts
// report that data, so it never names a secret, and no value of it makes ResolveParams fail: one
// that is not allowed is left out, and parameters that must be given are the trigger's to give.
SlotParams SlotParamsOf(const JobDocument& job, const TriggerSpec& trigger,
                        const std::map<std::string, std::string>& data);

// The variable a script finds a parameter in: "MUSTER_PARAM_VERSION".
std::string ParamVariable(std::string_view name);

}  // namespace muster::documents
