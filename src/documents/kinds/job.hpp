#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "documents/position.hpp"
#include "documents/reference.hpp"
#include "domain/command.hpp"
#include "domain/param.hpp"
#include "domain/run.hpp"
#include "domain/trigger.hpp"

// `kind: job`. What is behind it stands in documents/job.
namespace muster::documents {

struct Context;
struct Node;
struct Shape;
struct TemplateUse;

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

// The jobs that a job starts, and the channels that it tells.
std::vector<const JobAction*> JobsIn(const JobDocument& job);
std::vector<std::string> ChannelsIn(const JobDocument& job);

std::vector<Reference> ReferencesOf(const JobDocument& job);

const Shape& JobShape();

// Makes the job of a document that was held against the table; what is wrong beyond that (flow,
// names in templates, values that do not go together) is added to the context's problems.
JobDocument BuildJob(const Context& context, const Node& root,
                     const std::vector<TemplateUse>& uses);

}  // namespace muster::documents
