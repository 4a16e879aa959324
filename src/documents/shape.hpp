#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "documents/documents.hpp"

// What documents look like, as data. One table (in kinds/ and job/) says which keys there are,
// what stands behind each and what it is for; the check of a document, the JSON Schema and the
// tables of the reference are walks over it.
namespace muster::documents {

// A single value.
enum class Form : std::uint8_t {
  kProse,      // for people; any text
  kText,       // taken as it is
  kName,       // of a document
  kHost,       // a host's name
  kHosts,      // a host's name, or several as web[01-20]
  kStage,      // a stage's name
  kParam,      // a parameter's name
  kVariable,   // of an environment
  kLabel,      // a label's name
  kOutput,     // an output's name
  kHeader,     // of HTTP
  kStatus,     // what a stage came to
  kInteger,    // between `least` and `most`
  kFlag,       // true or false
  kDuration,   // at least `least` ms
  kSize,       // bytes
  kRate,       // bytes a second
  kShare,      // 5 or 10%, the number at least `least`
  kBatches,    // a plan on one line
  kCpu,        // processors
  kMode,       // of a file, octal
  kOwner,      // user, user:group, :group
  kTargets,    // an expression
  kPattern,    // RE2
  kPath,       // on the hosts, a template of `place`
  kFile,       // relative to the document
  kPointer,    // a JSON pointer
  kReading,    // a JSON pointer or `status`
  kNumber,     // decimal, a template of `place`
  kAddress,    // http:// or https://, a template of `place`
  kSecret,     // secret:NAME
  kChoice,     // one of `choices`
  kTemplate,   // of `place`
  kCondition,  // an expression, with or without ${{ }}
  kScript,     // code, which is never put together
};

// When a template is evaluated, which decides what it may name.
enum class Place : std::uint8_t {
  kNowhere,
  kStart,  // before the first stage: params, run, targets
  kStage,  // when its stage is entered: also stages that came before
  kHost,   // when a host's task is made: also host and its outputs
  kKey,    // of a limit: as kHost, or as kStart when it names no host
};

struct Value {
  Form form = Form::kText;
  Place place = Place::kNowhere;
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
  std::vector<std::string_view> choices = {};
};

struct Shape;

// What may stand behind a key, by what it looks like. Several may be allowed.
struct Type {
  std::optional<Value> value = {};         // a single value
  std::shared_ptr<const Type> item = {};   // a list of these
  const Shape* map = nullptr;              // a map with known keys
  std::shared_ptr<const Type> pairs = {};  // a map with names of one's own, and these behind them
  std::optional<Value> pair_name = {};     // what those names look like
  bool nothing = false;                    // may be left empty
  bool must_hold_something = false;        // of a list or pairs: at least one
};

// The actions of a stage, as bits.
enum Actions : std::uint32_t {
  kScriptAction = 1 << 0,
  kPushAction = 1 << 1,
  kPullAction = 1 << 2,
  kRebootAction = 1 << 3,
  kStagesAction = 1 << 4,
  kApproveAction = 1 << 5,
  kWaitAction = 1 << 6,
  kHttpAction = 1 << 7,
  kNotifyAction = 1 << 8,
  kJobAction = 1 << 9,
  kConditionAction = 1 << 10,
  kHostActions = kScriptAction | kPushAction | kPullAction | kRebootAction,
  kEveryAction = (1 << 11) - 1,
};
const std::vector<std::string_view>& ActionNames();  // by bit

struct Key {
  std::string_view name;
  Type type;
  std::string_view help;
  bool required = false;
  std::uint32_t actions = kEveryAction;  // of a stage: which it has a meaning for
  // Set: the key is not known here, and this says where it belongs.
  std::string_view refused = {};
};

struct Shape {
  std::string_view name;   // "stage"
  std::string_view title;  // "a stage"
  std::vector<Key> keys;
  bool is_stage = false;
  // Groups of keys of which exactly one is there.
  std::vector<std::vector<std::string_view>> one_of = {};

  const Key* Find(std::string_view key) const;
  std::vector<std::string_view> Names() const;  // of the keys that are known
};

// Every shape, each once, outer ones first.
std::vector<const Shape*> AllShapes();

// "a duration", "a text or a map (key: value)"
std::string Describe(const Type& type);
std::string_view Describe(const Value& value);

// Whether `text` is such a value; kInvalid with a sentence. Templates are only parsed here.
Result<> CheckValue(const Value& value, const std::string& text);

// "${{ … }}" is evaluated in it, or refused with its own words.
bool MayHoldTemplate(const Value& value);

}  // namespace muster::documents
