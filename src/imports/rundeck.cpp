#include "imports/rundeck.hpp"

#include <algorithm>
#include <set>

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "documents/values.hpp"
#include "documents/yaml_reader.hpp"
#include "imports/findings.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/xml_reader.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

struct Export {
  std::string file;
  Node job;
};

constexpr std::string_view kHead = "apiVersion: muster/v1\nkind: job\n";

std::string OneLine(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

// Exports name what a job could have, also where it has nothing of it.
bool IsEmpty(const Node& value) { return value.text.empty() && value.items.empty(); }

void AddJobs(const std::string& file, std::vector<Node> jobs, std::vector<Export>& exports,
             Findings& findings) {
  for (Node& job : jobs) {
    if (!job.IsMap() || TextIn(job, "name").empty())
      findings.Wrong(job.at, "expected a job of Rundeck with a 'name', found {}", Found(job));
    else if (exports.size() == kMostRundeckJobs)
      return findings.Wrong(job.at, "more than {} jobs; import them in parts", kMostRundeckJobs);
    else
      exports.push_back({file, std::move(job)});
  }
}

void ReadPiece(const documents::Source& source, const documents::Piece& piece,
               std::vector<Export>& exports, Findings& findings) {
  documents::Problems problems;
  const auto root = documents::ReadYaml(piece, problems);
  for (const auto& problem : std::move(problems).Take(source.file))
    findings.Wrong(problem.position, "{}", problem.sentence);
  if (!root) return;
  if (root->IsList() && root->items.empty())
    return findings.Wrong(root->at, "there is no job in it");
  AddJobs(source.file, root->IsList() ? root->items : std::vector{*root}, exports, findings);
}

void ReadExport(const documents::Source& source, std::vector<Export>& exports, Findings& findings) {
  const std::string_view text = source.text;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return findings.Wrong({1, 1}, "the file is UTF-16; convert it: iconv -f UTF-16 -t UTF-8");
  if (IsXml(text)) return AddJobs(source.file, JobsOfXml(text, findings), exports, findings);
  const auto pieces = documents::CutDocuments(text);
  if (pieces.empty()) findings.Wrong({1, 1}, "the file is empty; expected jobs in YAML or XML");
  for (const auto& piece : pieces) ReadPiece(source, piece, exports, findings);
}

RundeckBook BookOf(const std::vector<Export>& exports) {
  RundeckBook book;
  std::set<std::string> taken;
  for (const auto& [file, job] : exports) {
    const auto title = TitleOf(TextIn(job, "group"), TextIn(job, "name"));
    auto name = JobNameOf(title);
    for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}-{}", JobNameOf(title), i);
    if (!book.by_title.try_emplace(title, name, OptionsOf(job.Find("options"))).second) continue;
    taken.insert(name);
    for (const auto* key : {"uuid", "id"})
      if (const auto id = TextIn(job, key); !id.empty()) book.titles.emplace(id, title);
  }
  return book;
}

class JobWriter {
 public:
  JobWriter(const Export& source, const RundeckBook& book, RundeckJob& out)
      : job_(source.job), book_(book), out_(out), notes_(out.notes) {}

  void Write() {
    static constexpr std::string_view kTexts[] = {"description",
                                                  "group",
                                                  "uuid",
                                                  "timeout",
                                                  "timeZone",
                                                  "maxMultipleExecutions",
                                                  "scheduleEnabled",
                                                  "multipleExecutions",
                                                  "nodesSelectedByDefault"};
    LostUnlessTexts(job_, kTexts, "the job", notes_);
    std::string text = Comment() + std::string(kHead);
    text += fmt::format("name: {}\n", YamlQuoted(out_.name));
    const auto description = TextIn(job_, "description");
    if (!description.empty()) {
      text += fmt::format("description: {}\n", YamlText(description, 2));
      notes_.Over(At("description"), "description");
    }
    text += ParamsOf(job_.Find("options"), options_, notes_);
    const auto targets = TargetsOf(job_, notes_);
    if (!targets.empty()) text += fmt::format("targets: {}\n", YamlQuoted(targets));
    text += Timeout() + Limit();
    const StepContext context{book_, options_, notes_};
    text += StagesOf(job_, context);
    Rest();
    out_.text = Checked(std::move(text));
    out_.text += Trigger(!targets.empty());
  }

 private:
  std::string Comment() const {
    const auto id = TextIn(job_, "uuid");
    return fmt::format("# From Rundeck: {}{}\n", OneLine(out_.title),
                       id.empty() ? "" : ", " + OneLine(id));
  }

  Position At(std::string_view key) const {
    const Node* found = job_.FindKey(key);
    return found == nullptr ? job_.at : found->at;
  }

  std::string Timeout() {
    auto text = TextIn(job_, "timeout");
    if (text.empty() || text == "0") return "";
    std::erase(text, ' ');
    if (std::ranges::all_of(text, IsDigit)) text += 's';
    const auto duration = ParseDuration(text);
    if (!duration || duration->count() == 0) {
      notes_.Lost(At("timeout"), "timeout '{}' is no duration: write one", text);
      return "";
    }
    notes_.Over(At("timeout"), "timeout {}", text);
    return fmt::format("timeout: {}\n", YamlQuoted(text));
  }

  // Rundeck refuses a second run of a job unless told otherwise.
  std::string Limit() {
    const auto most = documents::ParseInteger(TextIn(job_, "maxMultipleExecutions"));
    const bool several = FlagIn(job_, "multipleExecutions", false);
    const std::int64_t max = !several ? 1 : most && *most >= 1 && *most <= 10'000 ? *most : 0;
    if (max == 0) return "";
    notes_.Changed(At("multipleExecutions"),
                   "a run beyond {} at once waits for its turn; Rundeck "
                   "refused it",
                   max);
    return fmt::format("limit: {{key: {}, max: {}}}\n", YamlQuoted("job/" + out_.name), max);
  }

  void Rest() {
    notes_.Over(job_.at, "name and group as '{}'", out_.name);
    for (std::size_t i = 0; i < job_.keys.size(); ++i)
      RestOf(job_.keys[i].text, job_.keys[i].at, job_.items[i]);
  }

  void RestOf(const std::string& key, Position at, const Node& value) {
    static const std::set<std::string_view> kDone = {"name",
                                                     "group",
                                                     "description",
                                                     "options",
                                                     "sequence",
                                                     "timeout",
                                                     "uuid",
                                                     "id",
                                                     "nodefilters",
                                                     "nodesSelectedByDefault",
                                                     "project",
                                                     "schedule",
                                                     "scheduleEnabled",
                                                     "timeZone",
                                                     "multipleExecutions",
                                                     "maxMultipleExecutions"};
    static const std::set<std::string_view> kShown = {
        "loglevel", "defaultTab", "nodeFilterEditable", "filterExcludeEditable", "tags",
        "plugins",  "jobTags",    "schedules"};
    if (kDone.contains(key) || IsEmpty(value)) return;
    if (key == "executionEnabled" && value.text == "true") return;
    if (key == "executionEnabled")
      return notes_.Lost(at,
                         "the job was disabled; it can be started here. Delete it, or do not "
                         "apply it");
    if (key == "notification") return Notifications(at, value);
    if (key == "notifyAvgDurationThreshold")
      return notes_.Lost(at, "notices about long runs are not made; set 'timeout'");
    if (key == "retry")
      return notes_.Lost(at, "the whole job is not repeated: give stages 'retries: {{max: …}}'");
    if (key == "orchestrator")
      return notes_.Lost(at, "orchestrator '{}': use 'batches' (sizes or percent) of a stage",
                         TextIn(value, "type"));
    if (key.starts_with("loglimit"))
      return notes_.Lost(at, "'{}': output is bounded for each host; see 'max_output' of a script",
                         key);
    if (kShown.contains(key)) return notes_.Lost(at, "'{}' has no counterpart; nothing to do", key);
    notes_.Lost(at, "'{}' has no counterpart", key);
  }

  // A trigger beside the job. It begins paused: Rundeck may still start the job as well.
  std::string Trigger(bool has_targets) {
    const Node* schedule = job_.Find("schedule");
    if (schedule == nullptr || IsEmpty(*schedule)) return "";
    const std::string quartz = ScheduleOf(*schedule);
    const std::string cron = CronOfQuartz(quartz);
    const std::string zone = TextIn(job_, "timeZone");
    const std::string tz = zone.empty() ? "" : fmt::format("tz: {}\n", YamlQuoted(zone));
    const std::string text = fmt::format(
        "apiVersion: muster/v1\nkind: trigger\nname: {0}\ncron: {1}\n{2}job: {0}\n"
        "paused: true\n",
        YamlQuoted(out_.name), YamlQuoted(cron), tz);
    if (const auto problem = ProblemOf(text)) {
      notes_.Lost(At("schedule"), "the schedule ({}) could not be written as a trigger: {}", quartz,
                  *problem);
      return "";
    }
    if (TextIn(job_, "scheduleEnabled") == "false")
      notes_.Over(At("scheduleEnabled"), "the schedule was not enabled");
    if (const auto missing = ParamsWithoutValue(out_.text); !missing.empty())
      return TriggerWithoutParams(text, quartz, missing);
    notes_.Changed(
        At("schedule"),
        "the schedule ({}) is trigger '{}', cron '{}', which is paused: take the schedule "
        "out of Rundeck, {}then 'muster triggers resume {}'{}",
        quartz, out_.name, cron,
        has_targets ? "" : "give the trigger 'targets', as the job has none, ", out_.name,
        zone.empty() ? "; it is in UTC, Rundeck's was that of its server: see 'tz'" : "");
    return "---\n" + text;
  }

  // The server takes no trigger that lacks a parameter; as a comment it waits for its value and
  // keeps no other job from being applied.
  std::string TriggerWithoutParams(const std::string& text, const std::string& quartz,
                                   const std::vector<std::string>& missing) {
    notes_.Lost(At("schedule"),
                "the schedule ({}) has no value for {}, without which it starts nothing: its "
                "trigger is a comment behind the job; write the value into 'params' and take "
                "the # away",
                quartz, fmt::join(missing, ", "));
    std::string params = "params:\n";
    for (const auto& name : missing) params += fmt::format("  {}: ''\n", YamlText(name, 0));
    std::string comment = "---\n";
    const std::string whole = text + params;
    for (const auto line : Split(std::string_view(whole).substr(0, whole.size() - 1), '\n'))
      comment += fmt::format("# {}\n", line);
    return comment;
  }

  static std::vector<std::string> ParamsWithoutValue(const std::string& text) {
    std::vector<std::string> missing;
    for (const auto& document : Read(text).documents)
      if (const auto* job = std::get_if<documents::JobDocument>(&document.body))
        for (const auto& param : job->params)
          if (param.required && !param.fallback) missing.push_back(param.name);
    return missing;
  }

  // Weekdays of Quartz are numbered from 1, Sunday; L alone is its last, Saturday.
  static std::string CronOfQuartz(const std::string& quartz) {
    std::vector<std::string> fields;
    for (const auto part : Split(quartz, ' '))
      if (!part.empty()) fields.emplace_back(part);
    if (fields.size() < 6) return quartz;
    std::string& weekdays = fields[5];
    if (weekdays == "L" || weekdays == "l") weekdays = "7";
    std::string converted;
    char before = ',';
    for (const char c : weekdays) {
      const bool is_weekday = c >= '1' && c <= '7' && (before == ',' || before == '-');
      converted += is_weekday ? static_cast<char>(c - 1) : c;
      before = c;
    }
    weekdays = converted;
    if (fields.size() == 7 && fields[6] == "*") fields.pop_back();
    return fmt::format("{}", fmt::join(fields, " "));
  }

  static std::string ScheduleOf(const Node& schedule) {
    if (const auto crontab = TextIn(schedule, "crontab"); !crontab.empty()) return OneLine(crontab);
    const auto part = [](const Node* map, std::string_view key, std::string_view fallback) {
      const auto text = map == nullptr ? "" : TextIn(*map, key);
      return text.empty() ? std::string(fallback) : text;
    };
    const Node* time = schedule.Find("time");
    const auto day = part(schedule.Find("dayofmonth"), "day", "?");
    const auto year = part(&schedule, "year", "*");
    return OneLine(fmt::format("{} {} {} {} {} {}{}", part(time, "seconds", "0"),
                               part(time, "minute", "0"), part(time, "hour", "0"), day,
                               part(&schedule, "month", "*"),
                               part(schedule.Find("weekday"), "day", day == "?" ? "*" : "?"),
                               year == "*" ? "" : " " + year));
  }

  void Notifications(Position at, const Node& value) {
    static const std::map<std::string_view, std::string_view> kStates = {
        {"onsuccess", "succeeded"}, {"onfailure", "[failed, timed_out, cancelled]"}};
    for (const auto& key : value.keys) {
      const auto state = kStates.find(key.text);
      if (state == kStates.end())
        notes_.Lost(key.at, "notification '{}' has no counterpart", key.text);
      else
        notes_.Lost(key.at,
                    "notification '{}': make a channel (kind: channel) and add 'notify: "
                    "{{on: {}, to: NAME}}'",
                    key.text, state->second);
    }
    if (value.keys.empty()) notes_.Lost(at, "the notification could not be read");
  }

  static documents::Reading Read(const std::string& text) {
    const documents::Source source{"made", text};
    return documents::ReadDocuments({&source, 1},
                                    [](const auto&, const auto&) -> Result<std::string> {
                                      return Fail(ErrorCode::kNotFound, "no files");
                                    });
  }

  static std::optional<std::string> ProblemOf(const std::string& text) {
    const auto reading = Read(text);
    if (reading.problems.empty()) return std::nullopt;
    return reading.problems.front().sentence;
  }

  // What the parser does not take is replaced by a stage that says so.
  std::string Checked(std::string text) {
    const auto reading = Read(text);
    if (reading.problems.empty()) return text;
    for (const auto& problem : reading.problems)
      notes_.Lost(job_.at, "the job could not be written: {}; write it by hand", problem.sentence);
    return Comment() +
           fmt::format(
               "{}name: {}\nstages:\n  - name: not-carried-over\n    script: |\n      echo "
               "'this job could not be carried over' >&2\n      exit 1\n",
               kHead, YamlQuoted(out_.name));
  }

  const Node& job_;
  const RundeckBook& book_;
  RundeckJob& out_;
  JobNotes notes_;
  RundeckOptions options_;
};

}  // namespace

RundeckJobs ReadRundeck(std::span<const documents::Source> sources) {
  RundeckJobs all;
  std::vector<Export> exports;
  for (const auto& source : sources) {
    Findings findings(source.file);
    ReadExport(source, exports, findings);
    for (auto& problem : findings.Problems()) all.problems.push_back(std::move(problem));
  }
  const auto book = BookOf(exports);
  std::set<std::string> done;
  for (const auto& one : exports) {
    const auto title = TitleOf(TextIn(one.job, "group"), TextIn(one.job, "name"));
    if (!done.insert(title).second) {
      all.problems.push_back({one.file, one.job.at, fmt::format("job '{}' is there twice", title)});
      continue;
    }
    if (!all.problems.empty()) continue;
    RundeckJob job{one.file, one.job.at, title, book.by_title.at(title).name, "", {}};
    JobWriter(one, book, job).Write();
    std::ranges::stable_sort(job.notes, {}, &RundeckNote::at);
    all.jobs.push_back(std::move(job));
  }
  if (!all.problems.empty()) all.jobs.clear();
  return all;
}

std::string ReportOf(const RundeckJob& job) {
  std::string text = fmt::format("{}:{}: '{}' becomes job {}\n", job.file, job.at.line,
                                 OneLine(job.title), job.name);
  constexpr std::pair<Carried, std::string_view> kParts[] = {
      {Carried::kOver, "carried over"},
      {Carried::kChanged, "changed in meaning"},
      {Carried::kLost, "not carried over"}};
  for (const auto& [carried, title] : kParts) {
    bool first = true;
    for (const auto& note : job.notes) {
      if (note.carried != carried) continue;
      if (first) text += fmt::format("  {}:\n", title);
      first = false;
      text += fmt::format("    line {}: {}\n", note.at.line, OneLine(note.sentence));
    }
  }
  return text;
}

}  // namespace muster::imports
