#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/node.hpp"
#include "imports/findings.hpp"
#include "imports/rundeck.hpp"

// What the import of a Rundeck job is made of; for the files rundeck_*.cpp alone.
namespace muster::imports {

using documents::Node;
using documents::Position;

// Gathers the notes on a job, each once. Of very many the last one says that others follow.
class JobNotes {
 public:
  explicit JobNotes(std::vector<RundeckNote>& list) : list_(list) {}

  template <typename... Args>
  void Over(Position at, fmt::format_string<Args...> format, Args&&... args) {
    Add(Carried::kOver, at, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Changed(Position at, fmt::format_string<Args...> format, Args&&... args) {
    Add(Carried::kChanged, at, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Lost(Position at, fmt::format_string<Args...> format, Args&&... args) {
    Add(Carried::kLost, at, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void Add(Carried carried, Position at, std::string sentence);

  static constexpr std::size_t kMost = 500;

  std::vector<RundeckNote>& list_;
  std::set<std::pair<Position, std::string>> said_;
};

// The jobs of an export in XML, in the form that they have in one in YAML. When it is none,
// `findings` say why.
std::vector<Node> JobsOfXml(std::string_view text, Findings& findings);

// An option, and the parameter it becomes.
struct RundeckOption {
  std::string name;
  std::string param;
  bool secret = false;
  bool always = false;  // a start always has a value for it
};
using RundeckOptions = std::vector<RundeckOption>;

// What jobs that are imported together are called.
struct RundeckBook {
  struct Entry {
    std::string name;  // Muster's
    RundeckOptions options;
  };
  std::map<std::string, Entry> by_title;
  std::map<std::string, std::string> titles;  // by uuid

  const Entry* Find(const std::string& title) const;
};

// Reading what may be missing. What is no text reads as missing, so LostUnlessTexts has to tell of
// it.
std::string TextIn(const Node& map, std::string_view key);
// True for true, yes and on; the fallback for an empty text; false for any other.
bool FlagIn(const Node& map, std::string_view key, bool fallback);
// Notes those of `keys` whose value is a list or a map; false when there is one. `what`: "option
// 'v'".
bool LostUnlessTexts(const Node& map, std::span<const std::string_view> keys, std::string_view what,
                     JobNotes& notes);

// "Restart Web!" becomes "restart-web"; letters, digits and what `more` lists stay.
std::string Slug(std::string_view text, std::string_view more, char instead, std::size_t most);
std::string TitleOf(std::string_view group, std::string_view name);
std::string JobNameOf(std::string_view title);

// Parameters of the options, as lines of YAML; fills `options`.
std::string ParamsOf(const Node* node, RundeckOptions& options, JobNotes& notes);
// Only what the options are called, for references from other jobs.
RundeckOptions OptionsOf(const Node* node);

// The target expression of a job's node filter; "" when whoever starts it has to say.
std::string TargetsOf(const Node& job, JobNotes& notes);

// A stage as lines of YAML, without the dash before the first.
struct StageText {
  std::string name;
  std::vector<std::string> lines;  // of its keys besides the name
  bool on_hosts = true;            // a script or job, which takes hosts, batches …
  bool is_job = false;
  Position at;
};

// What the stages of one job share.
struct StepContext {
  const RundeckBook& book;
  const RundeckOptions& options;
  JobNotes& notes;
};

StageText StageOf(const Node& step, std::string name, const StepContext& context);

// Stages, branches and what they are tied together by.
std::string StagesOf(const Node& job, const StepContext& context);

// References to options and to what Rundeck knows, in a shell script: they become variables of the
// environment, in quotes where none are. `env` gets the variables that have to be given.
using Variables = std::map<std::string, std::string>;
std::string ShellText(std::string_view text, Position at, const StepContext& context,
                      Variables& env);
// The same in a script of another language: only variables can be carried over.
std::string OtherText(std::string_view text, Position at, const StepContext& context,
                      Variables& env);
// The same in a text that is data: they become templates. Nothing when it names a secret among
// other text, which no template may.
std::optional<std::string> TemplateText(std::string_view text, Position at,
                                        const StepContext& context);
// Words as a shell cuts them.
std::vector<std::string> CutArguments(std::string_view text);

}  // namespace muster::imports
