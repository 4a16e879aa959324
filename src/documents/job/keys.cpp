#include "documents/keys.hpp"

#include "documents/kinds/job.hpp"

// The keys of a job and of its stages.
namespace muster::documents {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): its words

const Shape& BatchCheckShape() {
  static const Shape shape{
      "check",
      "a check",
      {{"script", Script(), "What is run on the hosts of the batch just done.", true},
       {"timeout", TimeAboveZero(), "Of each attempt. Default `1h`."},
       {"retries", RetryCount(), "As of a stage."},
       {"concurrency", Integer(1, kManyHosts), "Hosts at once; else all."},
       {"resources", MapOf(ResourcesShape()), "As of a stage."}},
      true};
  return shape;
}

const Shape& BetweenShape() {
  static const Shape shape{
      "between",
      "between two batches",
      {{"check", MapOf(BatchCheckShape()),
        "A script on the batch's hosts; its failures count as the batch's."},
       {"approve", OrNothing(OrOne(MapOf(ApproveShape()), Template(Place::kStage))),
        "Third, a person, before the next batch."},
       {"wait", Time(), "First, a wait before the check."}}};
  return shape;
}

constexpr std::uint32_t kServerWork = kHttpAction | kNotifyAction | kConditionAction;
constexpr std::uint32_t kBatched = kHostActions | kStagesAction | kJobAction;

Key RefusedKey(std::string_view name, std::string_view why) {
  Key key{name, {}, ""};
  key.refused = why;
  return key;
}

// What inner stages have as well.
std::vector<Key> CommonKeys() {
  return {
      {"timeout", TimeAboveZero(),
       "Bounds each attempt of a task (of an approval: until it counts as rejected). Default `1h`.",
       false, kHostActions | kApproveAction | kHttpAction | kConditionAction},
      {"retries", RetryCount(), "Attempts after one that failed or timed out: a number, or a map.",
       false, kHostActions | kServerWork},
      {"repeat", Choice({"never", "safe"}),
       "`safe`: an attempt that was lost may be repeated. Default `never`.", false,
       kHostActions | kServerWork},
      {"hosts", Choice({"ok", "failed", "touched", "all"}),
       "Which of the run's hosts: that came through so far (default), that dropped out, that were "
       "sent a task, or all. In a stage entered by `switch`, failed and touched are those of the "
       "stage that switched.",
       false, kBatched},
      {"when", One({.form = Form::kCondition, .place = Place::kStage}),
       "The stage is skipped when this is false. A template, `${{ }}` may be left out."},
      {"switch", Pairs(Form::kStatus, Text(Form::kStage)),
       "Which stage follows, by outcome (`succeeded`, `failed`, `timed_out`, `default`) or by the "
       "status it reported; `end` ends its list."},
      {"max_visits", Integer(1, 10'000), "How often it may be entered in one pass. Default 10."},
      {"recovers", Flag(), "A run that came here by a failure may still succeed. Default `false`."},
      {"concurrency", Integer(1, kManyHosts), "Hosts at once; else all.", false, kHostActions},
      {"spread", Time(), "Each host starts at its own moment within this time.", false,
       kHostActions},
      {"wait_offline", Time(), "For hosts that are not there when their turn comes. Default `15s`.",
       false, kHostActions},
      {"limit", OneOrList(MapOf(LimitShape())), "Concurrency keys: one or several.", false,
       kHostActions | kStagesAction},
      {"resources", MapOf(ResourcesShape()), "What a task may use of its host.", false,
       kScriptAction},
      RefusedKey("command", "a command is a 'script' of one line"),
      RefusedKey("run", "write 'script'"),
  };
}

Key StageName() {
  return {"name", Text(Form::kStage), "Unique in the job: `[a-z][a-z0-9_-]*`.", true};
}

const Shape& InnerStageShape() {
  static const Shape shape = [] {
    Shape inner{"inner stage", "a stage inside a stage", {StageName()}, true};
    Append(inner.keys, ActionKeys());
    Append(inner.keys, CommonKeys());
    inner.keys.push_back(RefusedKey("stages", "stages go one level deep only"));
    inner.keys.push_back(
        RefusedKey("needs", "inner stages run one after the other; 'needs' is for the outer ones"));
    for (const auto* name : {"batches", "between", "max_failures", "max_unreachable", "on_limit"})
      inner.keys.push_back(RefusedKey(name, "it belongs to the stage that holds this one"));
    return inner;
  }();
  return shape;
}

const Shape& StageShape() {
  static const Shape shape = [] {
    Shape stage{"stage", "a stage", {StageName()}, true};
    Append(stage.keys, ActionKeys());
    stage.keys.push_back(
        {"stages", ListOf(MapOf(InnerStageShape())),
         "Stages of its own, which run one after the other on each of its batches."});
    stage.keys.push_back({"needs", PossiblyEmpty(OneOrList(Text(Form::kStage))),
                          "Which stages of its list it waits for; else the one before it. `[]` "
                          "starts at once."});
    stage.keys.push_back({"batches", OrOne(ListOf(Share(1)), Text(Form::kBatches)),
                          "Sizes of batches, `[1, 10%, 100%]`, `20 +10` or `1 *2`; percent of the "
                          "run's hosts; the "
                          "last repeats.",
                          false, kBatched});
    stage.keys.push_back({"between", MapOf(BetweenShape()),
                          "What follows each batch: `wait`, then `check`, then `approve`. After "
                          "the last batch only `check`.",
                          false, kBatched});
    stage.keys.push_back({"max_failures", Text(Form::kShare),
                          "Tolerated: a number of hosts, or percent of the batch (of the stage "
                          "without batches), rounded down. Default 0.",
                          false, kBatched});
    stage.keys.push_back(
        {"max_unreachable", Text(Form::kShare),
         "Tolerated likewise of hosts that are not reached. Default any number, but "
         "a batch without a host that succeeded opens no other.",
         false, kBatched});
    stage.keys.push_back({"on_limit", Choice({"fail", "pause"}),
                          "What happens past `max_failures` or `max_unreachable`. Default `pause` "
                          "with `batches`, else "
                          "`fail`.",
                          false, kBatched});
    Append(stage.keys, CommonKeys());
    return stage;
  }();
  return shape;
}

const Shape& NoticeShape() {
  static const Shape shape{"notice",
                           "a notice",
                           {{"on",
                             OneOrList(Choice({"succeeded", "failed", "timed_out", "cancelled",
                                               "paused", "awaiting_approval"})),
                             "The states of the run that are reported.", true},
                            {"to", Text(Form::kName), "A channel (`kind: channel`).", true}}};
  return shape;
}

}  // namespace

const Shape& JobShape() {
  static const Shape shape = [] {
    Shape job{"job", "a job", HeadKeys("job", Form::kName, "What it is started by.")};
    Append(job.keys,
           {{"description", Text(Form::kProse), "For people."},
            {"owner", Text(Form::kProse), "Whom to ask about it."},
            {"params", Pairs(Form::kParam, OrNothing(MapOf(ParamShape()))),
             "What a start may or must say, by name. A script finds each in `$MUSTER_PARAM_NAME`."},
            {"targets", Text(Form::kTargets),
             "The hosts, as everywhere; without it, each start says which."},
            {"max_hosts", OneOrList(Share(1)),
             "A start on more hosts is refused: a number, a percentage of all hosts, or both as a "
             "list."},
            {"timeout", TimeAboveZero(),
             "A budget for the whole run, which waits, pauses and approvals do not use."},
            {"priority", Choice({"high", "normal", "low"}), "Default `normal`."},
            {"limit", OneOrList(MapOf(LimitShape())), "Concurrency keys: one or several."},
            {"notify", OneOrList(MapOf(NoticeShape())),
             "Which channel is notified of which states: one or several."},
            {"stages", ListOf(MapOf(StageShape())), "What it does.", true},
            {"branches", ListOf(MapOf(StageShape())), "Stages that are entered only by `switch`."},
            {"finally", ListOf(MapOf(StageShape())),
             "Stages that run at the end, however the others went; not after a stop, and not once "
             "`timeout` is used up."}});
    return job;
  }();
  return shape;
}

}  // namespace muster::documents
