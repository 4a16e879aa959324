#include "documents/keys.hpp"

namespace muster::documents::table {
namespace {

const Shape& ScriptShape() {
  static const Shape shape{
      "script",
      "a script",
      {{"run", Text(Form::kScript),
        "The script itself. A `#!` line chooses its interpreter, else `/bin/sh`."},
       {"file", Text(Form::kFile), "A file with the script, relative to the document."},
       {"args", ListOf(Template(Place::kHost)), "Arguments. Templates."},
       {"env", Pairs(Form::kVariable, Template(Place::kHost)),
        "Variables of its environment. Templates, or `secret:NAME`."},
       {"stdin", Template(Place::kHost), "What it reads; else `/dev/null`. Template."},
       {"user", Text(Form::kText), "Whom it runs as; else the agent's default."},
       {"folder", Template(Place::kHost, Form::kPath),
        "Where it runs; else the user's home. Template."},
       {"interpreter", Text(Form::kText), "What runs it, instead of its `#!` line."},
       {"timeout", TimeAboveZero(), "The same as `timeout` of its stage."},
       {"grace", Time(), "Between TERM and KILL when it is ended. Default `10s`."},
       {"max_output", Text(Form::kSize),
        "Output kept of each host. Default: 16 MB, and 1 GB for the run."},
       {"leftovers", Choice({"keep", "kill"}),
        "What happens to processes it leaves behind. Default `keep`."}},
      false,
      {{"run", "file"}}};
  return shape;
}

const Shape& PushShape() {
  static const Shape shape{
      "push",
      "a push",
      {{"from", Text(Form::kFile), "A file or folder, relative to the document."},
       {"content", Template(Place::kHost), "The content of a file itself. Template."},
       {"to", Template(Place::kHost, Form::kPath),
        "Where it goes on the host. Ends in `/`: into that folder, under its own name. Template.",
        true},
       {"mode", Text(Form::kMode), "Of every file, as in `'0644'`; else as at its source."},
       {"owner", Text(Form::kOwner), "`user`, `user:group` or `:group`; else the task's user."},
       {"rate", Text(Form::kRate), "At most so many bytes a second for each host, as in `10MB`."}},
      false,
      {{"from", "content"}}};
  return shape;
}

const Shape& PullShape() {
  static const Shape shape{
      "pull",
      "a pull",
      {{"from", OneOrList(Template(Place::kHost, Form::kPath)),
        "One path or several on the host; `*` and `?` match names, a folder means all in it. "
        "Templates.",
        true},
       {"max_size", Text(Form::kSize),
        "Of one host at most; past it the task fails. Default `1GB`."},
       {"rate", Text(Form::kRate), "At most so many bytes a second for each host."}}};
  return shape;
}

const Shape& RebootShape() {
  static const Shape shape{
      "reboot",
      "a reboot",
      {{"timeout", TimeAboveZero(),
        "Until its agent must be back after another boot. Default `15m`."},
       {"command", OneOrList(Text(Form::kText)),
        "What reboots it: a line for `/bin/sh -c`, or a program and its arguments. Else the "
        "system's own way."}}};
  return shape;
}

const Shape& WaitShape() {
  static const Shape shape{
      "wait",
      "a wait",
      {{"for", Time(), "How long."},
       {"until", Template(Place::kStage), "Until when: an RFC 3339 time in UTC. Template."}},
      false,
      {{"for", "until"}}};
  return shape;
}

const Shape& HttpShape() {
  static const Shape shape{
      "http",
      "a request",
      {{"method", Choice({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}), "Default `GET`."},
       {"url", Template(Place::kStage, Form::kAddress),
        "What is called, by the server. Which addresses may be is a setting of the server. "
        "Template.",
        true},
       {"headers", Pairs(Form::kHeader, Template(Place::kStage)), "Templates."},
       {"body", Template(Place::kStage), "Template."},
       {"expect", OneOrList(Integer(100, 599)), "The statuses that are a success; else any 2xx."},
       {"outputs", Pairs(Form::kOutput, Text(Form::kPointer)),
        "Outputs of the stage, each a JSON pointer into the answer, as in `/items/0/id`."},
       {"timeout", TimeAboveZero(), "For the whole request. Default `30s`."}}};
  return shape;
}

const Shape& ConditionShape() {
  const auto bound = [] { return Template(Place::kStage, Form::kNumber); };
  static const Shape shape{
      "condition",
      "a condition",
      {{"method", Choice({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}), "Default `GET`."},
       {"url", Template(Place::kStage, Form::kAddress),
        "What is asked, by the server. Which addresses may be is a setting of the server. "
        "Template.",
        true},
       {"headers", Pairs(Form::kHeader, Template(Place::kStage)), "Templates."},
       {"body", Template(Place::kStage), "Template."},
       {"expect", OneOrList(Integer(100, 599)),
        "The statuses that are an answer; else any 2xx, and with `value: status` any at all."},
       {"timeout", TimeAboveZero(), "For the whole request. Default `30s`."},
       {"value", Text(Form::kReading),
        "Where the number is: a JSON pointer into the answer, as in `/data/used`, or `status` for "
        "the status of HTTP; else the answer's body is the number."},
       {"above", bound(), "It holds while the value is greater. Template."},
       {"below", bound(), "… is smaller. Template."},
       {"at_least", bound(), "… is greater or the same. Template."},
       {"at_most", bound(), "… is smaller or the same. Template."},
       {"equals", bound(), "… is the same. Template."},
       {"differs", bound(), "… is another. Template."},
       {"for", Time(),
        "So long it must hold before it fires, over firings of the trigger. Default `0s`."},
       {"missing", Choice({"error", "ok", "firing"}),
        "What an answer without the value, with `null` or `NaN` counts as: a failure of the stage "
        "(default), not holding, or holding."}},
      false,
      {{"above", "below", "at_least", "at_most", "equals", "differs"}}};
  return shape;
}

const Shape& MessageShape() {
  static const Shape shape{"message",
                           "a message",
                           {{"to", Text(Form::kName), "A channel (`kind: channel`).", true},
                            {"message", Template(Place::kStage), "What it says. Template.", true}}};
  return shape;
}

const Shape& ChildShape() {
  static const Shape shape{
      "child",
      "a child run",
      {{"name", Text(Form::kName), "The job. It runs on this stage's hosts.", true},
       {"params", Pairs(Form::kParam, Template(Place::kStage)),
        "Its parameters. Templates; a secret parameter is handed on as `${{ params.NAME }}` "
        "alone."},
       {"wait", Flag(),
        "Whether the stage waits for its end and takes its outcome. Default `true`."}}};
  return shape;
}

const Shape& RetriesShape() {
  static const Shape shape{
      "retries",
      "retries",
      {{"max", Integer(0, 100), "Attempts that may follow the first one.", true},
       {"backoff", Time(), "Before the next attempt. Default `5s`."}}};
  return shape;
}

}  // namespace

const Shape& ParamShape() {
  static const Shape shape{
      "param",
      "a parameter",
      {{"type", Choice({"string", "integer", "number", "boolean", "choice", "secret"}),
        "What its value must be; `string` when nothing is said."},
       {"required", Flag(), "Whether a start without it is refused. Default `false`."},
       {"default", Text(Form::kText),
        "The value when none is given. Of a secret only `secret:NAME`."},
       {"pattern", Text(Form::kPattern),
        "RE2 that the value must match, anywhere in it: write `^…$` for the whole."},
       {"choices", ListOf(Text(Form::kText)), "The values of type `choice`."},
       {"description", Text(Form::kProse), "For people."}}};
  return shape;
}

const Shape& ApproveShape() {
  static const Shape shape{
      "approve",
      "an approval",
      {{"message", Template(Place::kStage), "What the person is asked. Template."},
       {"by", OneOrList(Text(Form::kText)),
        "Roles or names of tokens that may answer; else every operator."},
       {"not", Choice({"starter"}),
        "`starter`: not by those who started, retried or changed the run, or wrote what its "
        "trigger started."},
       {"timeout", TimeAboveZero(), "Then it counts as rejected. Default `24h`."}}};
  return shape;
}

const Shape& LimitShape() {
  static const Shape shape{
      "limit",
      "a limit",
      {{"key", Template(Place::kKey),
        "What is limited, over all runs. Template: one that names `host` is taken by each task, "
        "any other by the run before its first stage.",
        true},
       {"max", Integer(1, kManyHosts), "How many at once. Default 1."}}};
  return shape;
}

const Shape& ResourcesShape() {
  static const Shape shape{"resources",
                           "resources",
                           {{"memory", Text(Form::kSize), "Bytes, swap included, as in `512MB`."},
                            {"cpu", Text(Form::kCpu), "Processors, as in `0.5`."},
                            {"processes", Integer(1, 4'000'000), "Threads count as well."}}};
  return shape;
}

Type Script() { return OrOne(MapOf(ScriptShape()), Text(Form::kScript)); }
Type RetryCount() { return OrOne(MapOf(RetriesShape()), Integer(0, 100)); }

std::vector<Key> ActionKeys() {
  return {
      {"script", Script(), "Runs a script on each host: its text, or a map."},
      {"push", MapOf(PushShape()), "Puts a file or folder on each host."},
      {"pull", OrMap(OneOrList(Template(Place::kHost, Form::kPath)), PullShape()),
       "Brings files of each host into the artifact store: a path, a list of them, or a map."},
      {"reboot", OrNothing(MapOf(RebootShape())), "Reboots each host and waits for it."},
      {"approve", OrNothing(OrOne(MapOf(ApproveShape()), Template(Place::kStage))),
       "Waits for a person: what is asked, or a map."},
      {"wait", OrOne(MapOf(WaitShape()), Time()), "Waits: a duration, or a map."},
      {"http", MapOf(HttpShape()), "The server makes a request."},
      {"condition", MapOf(ConditionShape()),
       "Asks for a number over HTTP and holds it against a bound."},
      {"notify", MapOf(MessageShape()), "Sends a message through a channel."},
      {"job", OrOne(MapOf(ChildShape()), Text(Form::kName)),
       "Starts another job as a child run: its name, or a map."},
  };
}

}  // namespace muster::documents::table
