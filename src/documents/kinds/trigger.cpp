#include "documents/kinds/trigger.hpp"

#include "cron/local_text.hpp"
#include "cron/schedule.hpp"
#include "documents/fields.hpp"
#include "documents/keys.hpp"
#include "documents/kinds.hpp"

namespace muster::documents {
namespace {

using namespace table;

constexpr std::size_t kMaxBlackouts = 100;  // each is looked at for every slot
constexpr std::size_t kMaxCarried = 100;

const Shape& MissedShape() {
  static const Shape shape{
      "missed",
      "what is made up for",
      {{"rule", Choice({"skip", "latest", "all"}), "`latest` is the default.", true},
       {"window", TimeAboveZero(), "Older slots are skipped whatever the rule; default `24h`."},
       {"most", Integer(1, 10'000), "Of `all`: so many at most, the latest; default 100."}}};
  return shape;
}

const Shape& OverlapShape() {
  static const Shape shape{
      "overlap",
      "what happens while a run is open",
      {{"rule", Choice({"skip", "queue", "replace", "allow"}), "`skip` is the default.", true},
       {"most", Integer(1, 1000),
        "Of `queue`: so many slots wait, default 10. Of `allow`: so many runs are open at once."}}};
  return shape;
}

const Shape& BlackoutShape() {
  static const Shape shape{"blackout",
                           "a blackout",
                           {{"cron", Text(Form::kText), "When it begins.", true},
                            {"lasts", TimeAboveZero(), "How long.", true},
                            {"tz", Text(Form::kText), "Its time zone; without it the trigger's."}}};
  return shape;
}

// RFC 3339 with its offset: a document is read without knowing any zone.
WallTime MomentOf(const Context& context, const Node& root, std::string_view key) {
  const Node* given = root.Find(key);
  if (given == nullptr || !given->IsText()) return {};
  const std::string& text = given->text;
  const bool offset =
      text.ends_with('Z') ||
      (text.size() > 6 && (text[text.size() - 6] == '+' || text[text.size() - 6] == '-'));
  const auto moment = cron::ParseLocal(cron::Zone::Utc(), text);
  if (offset && moment) return *moment;
  context.problems.Add(given->at, "{}: expected a moment with its offset, as 2027-03-28T02:30:00Z",
                       key);
  return {};
}

void CheckCron(const Context& context, const Node* given, const cron::ParseOptions& options) {
  if (given == nullptr || !given->IsText()) return;
  if (const auto read = cron::Parse(given->text, options); !read)
    context.problems.Add(given->at, "{}", cron::ToError(given->text, read.error()).message);
}

void TakeSchedule(const Context& context, const Node& root, TriggerSpec& spec) {
  spec.cron = TextOf(root, "cron");
  spec.every = TimeOf(root, "every", Duration::zero());
  if (spec.every.count() % 1000 != 0)
    context.problems.Add(root.Find("every")->at, "every: expected whole seconds");
  spec.once = MomentOf(context, root, "once");
  spec.start = MomentOf(context, root, "start");
  spec.end = MomentOf(context, root, "end");
  spec.tz = TextOf(root, "tz", "UTC");
  spec.both_days = TextOf(root, "days") == "both";
  if (TextOf(root, "gap") == "skip") spec.gap = cron::GapRule::kSkip;
  if (TextOf(root, "fold") == "both") spec.fold = cron::FoldRule::kBoth;
  CheckCron(context, root.Find("cron"), {.seed = spec.name, .both_days = spec.both_days});
  if (spec.start && spec.end && spec.end <= spec.start)
    context.problems.Add(root.Find("end")->at, "end: it ends before it starts");
}

// "latest", or a map with the rule and more.
std::string RuleOf(const Node* given) {
  if (given == nullptr) return "";
  return given->IsMap() ? TextOf(*given, "rule") : given->text;
}

void TakeRules(const Node& root, TriggerSpec& spec) {
  if (const Node* missed = root.Find("missed")) {
    spec.missed = ParseMissedRule(RuleOf(missed)).value_or(spec.missed);
    spec.missed_window = TimeOf(*missed, "window", spec.missed_window);
    spec.missed_most = NumberOf(*missed, "most", spec.missed_most);
  }
  if (const Node* overlap = root.Find("overlap")) {
    spec.overlap = ParseOverlapRule(RuleOf(overlap)).value_or(spec.overlap);
    if (spec.overlap == OverlapRule::kAllow)
      spec.overlap_allowed = NumberOf(*overlap, "most", spec.overlap_allowed);
    else
      spec.queue_most = NumberOf(*overlap, "most", spec.queue_most);
  }
  spec.jitter = TimeOf(root, "jitter", Duration::zero());
  spec.deadline = TimeOf(root, "deadline", Duration::zero());
}

void TakeBlackouts(const Context& context, const Node& root, TriggerSpec& spec) {
  for (const Node* item : SeveralOf(root.Find("blackouts"))) {
    if (!item->IsMap()) continue;
    if (spec.blackouts.size() == kMaxBlackouts) {
      context.problems.Add(item->at, "a trigger has at most {} blackouts", kMaxBlackouts);
      return;
    }
    CheckCron(context, item->Find("cron"), {.seed = spec.name});
    spec.blackouts.push_back({.cron = TextOf(*item, "cron"),
                              .lasts = TimeOf(*item, "lasts", Duration::zero()),
                              .tz = TextOf(*item, "tz", spec.tz)});
  }
}

void TakeCarry(const Context& context, const Node& root, TriggerSpec& spec) {
  for (const Node* item : SeveralOf(root.Find("carry"))) {
    if (!item->IsText()) continue;
    if (spec.params.contains(item->text))
      context.problems.Add(item->at,
                           "carry: '{}' is in 'params' too; a parameter has one value, from there "
                           "or from the runs",
                           item->text);
    spec.carry.insert(item->text);
    if (spec.carry.size() > kMaxCarried) {
      context.problems.Add(item->at, "a trigger carries at most {} parameters", kMaxCarried);
      return;
    }
  }
}

}  // namespace

const Shape& TriggerShape() {
  static const Shape shape = [] {
    Shape trigger{"trigger", "a trigger", HeadKeys("trigger", Form::kName, "Of the trigger.")};
    const std::vector<Key> keys{
        {"description", Text(Form::kProse), "For people."},
        {"cron", Text(Form::kText), "When: an expression ([cron](../cron.md))."},
        {"every", TimeAboveZero(),
         "Instead: an interval, counted from `start` or the first apply."},
        {"once", Text(Form::kText), "Instead: one moment, as `2027-03-28T02:30:00Z`."},
        {"tz", Text(Form::kText), "The time zone of `cron`, as `Europe/Berlin`; default `UTC`."},
        {"days", Choice({"either", "both"}),
         "Whether both day fields of `cron` must hold; default `either`."},
        {"gap", Choice({"first", "skip"}),
         "A fixed time that the clock jumps over: right after the jump, or not at all."},
        {"fold", Choice({"once", "both"}), "A fixed time that the clock shows twice."},
        {"job", Text(Form::kName), "What it starts.", true},
        {"params", Pairs(Form::kParam, Text(Form::kText)), "The job's parameters."},
        {"carry", ListOf(Text(Form::kParam)),
         "Parameters of the job that take the value its runs report "
         "([what a run says back](../triggers.md#what-a-run-says-back)); none of type `secret`."},
        {"targets", Text(Form::kTargets), "The hosts; else what the job says."},
        {"exclude", Text(Form::kTargets), "Hosts to leave out."},
        {"start", Text(Form::kText), "No slot before this moment."},
        {"end", Text(Form::kText), "No slot at or after this moment."},
        {"missed", OrMap(Choice({"skip", "latest", "all"}), MissedShape()),
         "Slots that nobody could start in time."},
        {"overlap", OrMap(Choice({"skip", "queue", "replace", "allow"}), OverlapShape()),
         "A slot that comes due while a run of the trigger is open."},
        {"jitter", Time(), "Each slot begins later by up to this, always by the same."},
        {"deadline", TimeAboveZero(), "A slot that has not begun by then is skipped."},
        {"blackouts", ListOf(MapOf(BlackoutShape())), "Times whose slots are skipped."},
        {"channel", Text(Form::kName), "Who is told of missed slots and errors."},
        {"constraints", Pairs(Form::kLabel, Text(Form::kText)),
         "What the server that runs it must have; kept, and without effect while there is one "
         "server."},
        {"paused", Flag(),
         "Whether a trigger that is new begins paused; one that is there stays as it is."}};
    trigger.keys.insert(trigger.keys.end(), keys.begin(), keys.end());
    trigger.one_of = {{"cron", "every", "once"}};
    return trigger;
  }();
  return shape;
}

TriggerDocument BuildTrigger(const Context& context, const Node& root) {
  TriggerDocument trigger;
  trigger.description = TextOf(root, "description");
  TriggerSpec& spec = trigger.spec;
  spec.name = trigger.name = TextOf(root, "name");
  TakeSchedule(context, root, spec);
  spec.job = TextOf(root, "job");
  for (auto& [name, value] : PairsOf(root.Find("params"))) spec.params[name] = value;
  TakeCarry(context, root, spec);
  spec.targets = TextOf(root, "targets");
  spec.exclude = TextOf(root, "exclude");
  TakeRules(root, spec);
  TakeBlackouts(context, root, spec);
  spec.channel = TextOf(root, "channel");
  for (auto& [name, value] : PairsOf(root.Find("constraints"))) spec.constraints[name] = value;
  trigger.paused = FlagOf(root, "paused", false);
  return trigger;
}

std::vector<Reference> ReferencesOf(const TriggerDocument& trigger) {
  const TriggerSpec& spec = trigger.spec;
  std::vector<Reference> references;
  if (!spec.channel.empty())
    references.push_back({.kind = Kind::kChannel, .name = spec.channel, .key = "channel"});
  references.push_back({.kind = Kind::kJob, .name = spec.job, .key = "job"});
  return references;
}

std::vector<std::string> ZonesOf(const TriggerDocument& trigger) {
  std::vector<std::string> zones{trigger.spec.tz};
  for (const auto& blackout : trigger.spec.blackouts) zones.push_back(blackout.tz);
  return zones;
}

}  // namespace muster::documents
