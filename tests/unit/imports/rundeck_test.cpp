#include "imports/rundeck.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::imports {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RundeckJobs Read(std::string text) {
  const documents::Source source{"jobs.yaml", std::move(text)};
  return ReadRundeck({&source, 1});
}

std::vector<std::string> Written(const std::vector<documents::Problem>& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems) lines.push_back(documents::Written(problem));
  return lines;
}

std::vector<std::string> Notes(const RundeckJob& job, Carried carried) {
  std::vector<std::string> lines;
  for (const auto& note : job.notes)
    if (note.carried == carried)
      lines.push_back(fmt::format("{}: {}", note.at.line, note.sentence));
  return lines;
}

// As Muster reads it; what was made must be a document.
documents::JobDocument Parsed(const RundeckJob& job) {
  const documents::Source source{"made.yaml", job.text};
  const auto documents =
      documents::ReadAll({&source, 1}, [](const auto&, const auto&) -> Result<std::string> {
        return Fail(ErrorCode::kNotFound, "no scripts");
      });
  if (!documents) {
    ADD_FAILURE() << documents.error().message << "\n" << job.text;
    return {};
  }
  return std::get<documents::JobDocument>(documents->front().body);
}

RundeckJob Only(std::string text) {
  const auto read = Read(std::move(text));
  EXPECT_THAT(Written(read.problems), IsEmpty());
  EXPECT_EQ(read.jobs.size(), 1U);
  return read.jobs.empty() ? RundeckJob{} : read.jobs.front();
}

const Command& CommandOfStage(const documents::JobDocument& job, std::string_view name) {
  static const Command kNone;
  for (const auto& stage : job.spec.stages)
    if (stage.name == name && CommandOf(stage) != nullptr) return *CommandOf(stage);
  ADD_FAILURE() << "no script stage " << name;
  return kNone;
}

constexpr const char* kWeb = R"(- defaultTab: nodes
  description: |-
    Restarts the web servers.
    And looks after them.
  executionEnabled: true
  group: ops/web
  id: 6f1c4a52-6a0e-4a51-9d0c-0f6d1f0c2a11
  loglevel: INFO
  maxMultipleExecutions: '2'
  multipleExecutions: true
  name: Restart Web!
  nodeFilterEditable: false
  nodefilters:
    dispatch:
      excludePrecedence: true
      keepgoing: true
      rankOrder: ascending
      successOnEmptyNodeFilter: false
      threadcount: '5'
    filter: 'tags: web+prod name: web-.* !os-family: windows zone: sh1'
  nodesSelectedByDefault: true
  notification:
    onfailure:
      email:
        recipients: ops@example.com
    onstart:
      urls: https://hooks.example.com/start
  options:
  - name: Service
    description: What to restart
    required: true
    enforced: true
    values: [nginx, apache2]
    value: nginx
  - name: version
    regex: '[0-9.]+'
  - name: bad
    regex: '(?<=x)y'
  - name: password
    secure: true
    valueExposed: true
    storagePath: keys/web/db password
  - name: login
    secure: true
  - name: zones
    multivalued: true
    delimiter: ','
    values: [a, b]
  orchestrator:
    type: rankTiered
  retry:
    delay: 30s
    retry: '2'
  schedule:
    month: '*'
    time: {hour: '05', minute: '30', seconds: '0'}
    weekday: {day: MON}
    year: '*'
  scheduleEnabled: true
  sequence:
    keepgoing: false
    strategy: node-first
    commands:
    - description: Stop it
      exec: systemctl stop ${option.Service} && echo 'was ${option.version}' "on ${node.name}"
    - script: |-
        #!/bin/bash
        echo "@option.version@ $RD_OPTION_SERVICE ${RD_JOB_EXECID} $RD_NODE_TAGS"
      args: --version ${option.version} "two words"
      scriptInterpreter: sudo -u web bash -x
      fileExtension: sh
    - script: |
        import os
        print("@option.version@", os.environ["RD_OPTION_SERVICE"])
      scriptInterpreter: /usr/bin/python3
  timeout: 1h 30m
  uuid: 6f1c4a52-6a0e-4a51-9d0c-0f6d1f0c2a11
)";

TEST(Rundeck, JobKeepsNameDescriptionTargetsAndLimits) {
  const auto job = Only(kWeb);
  const auto parsed = Parsed(job);
  EXPECT_EQ(job.title, "ops/web/Restart Web!");
  EXPECT_EQ(parsed.name, "ops.web.restart-web");
  EXPECT_EQ(parsed.description, "Restarts the web servers.\nAnd looks after them.");
  EXPECT_EQ(parsed.targets, "(@web and @prod) and web-* and zone=sh1");
  EXPECT_THAT(job.text, HasSubstr("timeout: '1h30m'"));
  EXPECT_THAT(job.text, HasSubstr("limit: {key: 'job/ops.web.restart-web', max: 2}"));
}

TEST(Rundeck, OptionsBecomeParameters) {
  const auto parsed = Parsed(Only(kWeb));
  ASSERT_EQ(parsed.params.size(), 5U);
  const auto& service = parsed.params[0];
  EXPECT_EQ(service.name, "service");
  EXPECT_EQ(service.type, ParamType::kChoice);
  EXPECT_THAT(service.choices, ElementsAre("nginx", "apache2"));
  EXPECT_EQ(service.fallback, "nginx");
  EXPECT_EQ(parsed.params[1].pattern, "^(?:[0-9.]+)$");
  EXPECT_EQ(parsed.params[2].pattern, "");
  EXPECT_EQ(parsed.params[3].type, ParamType::kSecret);
  EXPECT_EQ(parsed.params[3].fallback, "secret:web.db.password");
  EXPECT_EQ(parsed.params[4].type, ParamType::kString);
}

TEST(Rundeck, ReferencesBecomeVariablesAndNeverCode) {
  const auto parsed = Parsed(Only(kWeb));
  EXPECT_EQ(
      CommandOfStage(parsed, "stop-it").script,
      "systemctl stop \"${MUSTER_PARAM_SERVICE}\" && echo 'was '\"${MUSTER_PARAM_VERSION}\"'' "
      "\"on ${MUSTER_HOST}\"");
  const auto& second = CommandOfStage(parsed, "step-2");
  EXPECT_EQ(second.script,
            "#!/bin/bash\necho \"${MUSTER_PARAM_VERSION} $MUSTER_PARAM_SERVICE ${RD_JOB_EXECID} "
            "$RD_NODE_TAGS\"");
  EXPECT_THAT(second.args,
              ElementsAre("--version", "${{ params.version | default: '' }}", "two words"));
  EXPECT_EQ(second.user, "web");
  EXPECT_EQ(second.interpreter, "bash -x");
  const auto& python = CommandOfStage(parsed, "step-3");
  EXPECT_THAT(python.script, HasSubstr("os.environ[\"MUSTER_PARAM_SERVICE\"]"));
  EXPECT_THAT(python.script, HasSubstr("@option.version@"));
}

TEST(Rundeck, NodeFirstIsARollInBatches) {
  const auto job = Only(kWeb);
  const auto parsed = Parsed(job);
  ASSERT_EQ(parsed.spec.stages.size(), 4U);
  EXPECT_EQ(parsed.spec.stages[0].name, "steps");
  EXPECT_EQ(parsed.spec.stages[3].parent, 0U);
  EXPECT_THAT(job.text, HasSubstr("batches: [5]\n    max_failures: 100%"));
}

TEST(Rundeck, ReportSaysWhatChangedAndWhatIsLost) {
  const auto job = Only(kWeb);
  EXPECT_THAT(
      Notes(job, Carried::kOver),
      AllOf(Contains("2: description"), Contains("14: 5 at a time, going on when a host fails"),
            Contains(HasSubstr("3 steps")), Contains(HasSubstr("timeout 1h30m")),
            Contains(HasSubstr("option 'version'"))));
  EXPECT_THAT(Notes(job, Carried::kChanged),
              AllOf(Contains(HasSubstr("13: tags 'web+prod' are groups")),
                    Contains(HasSubstr("option 'password' is secret 'web.db.password'")),
                    Contains(HasSubstr("option 'Service' is parameter 'service'")),
                    Contains(HasSubstr("user: web")), Contains(HasSubstr("node-first")),
                    Contains(AllOf(HasSubstr("54: the schedule"), HasSubstr("0 30 05 ? * MON"),
                                   HasSubstr("paused")))));
  EXPECT_THAT(
      Notes(job, Carried::kLost),
      AllOf(Contains(HasSubstr("51: the whole job is not repeated")),
            Contains(HasSubstr("orchestrator 'rankTiered'")),
            Contains(HasSubstr("notification 'onfailure'")),
            Contains(HasSubstr("notification 'onstart'")), Contains(HasSubstr("(?<=x)y")),
            Contains(HasSubstr("option 'login'")), Contains(HasSubstr("RD_NODE_TAGS")),
            Contains(HasSubstr("os-family")), Contains(HasSubstr("@option.version@ is not")),
            Contains(HasSubstr("'loglevel'")), Contains(HasSubstr("rankOrder"))));
  const auto report = ReportOf(job);
  EXPECT_THAT(report, HasSubstr("jobs.yaml:1: 'ops/web/Restart Web!' becomes job"));
  EXPECT_THAT(report, HasSubstr("  not carried over:\n    line "));
}

TEST(Rundeck, ScheduleBecomesAPausedTrigger) {
  const auto job = Only(R"(- name: restart
  nodefilters: {filter: 'name: web.*', filterExclude: 'name: ${option.skip}'}
  options: [{name: skip, required: true, value: web9}]
  schedule: {crontab: '0 0 12 ? * 2-6,7#1 *'}
  timeZone: Europe/Berlin
  sequence:
    strategy: node-first
    commands:
    - {script: 'echo $1', args: '@option.skip@ ${option.skip}'}
)");
  EXPECT_THAT(job.text, HasSubstr("---\napiVersion: muster/v1\nkind: trigger\n"));
  EXPECT_THAT(job.text, HasSubstr("0 0 12 ? * 1-5,6#1"));
  EXPECT_THAT(job.text, HasSubstr("Europe/Berlin"));
  EXPECT_THAT(job.text, HasSubstr("paused: true"));
  EXPECT_THAT(job.text, Not(HasSubstr("@option")));
  EXPECT_THAT(Notes(job, Carried::kLost),
              Contains(AllOf(HasSubstr("without 'name: ${option.skip}'"), HasSubstr("-x"))));
}

TEST(Rundeck, TriggerOfAJobThatLacksAValueIsAComment) {
  const auto job = Only(R"(- name: restart
  nodefilters: {filter: 'name: web1'}
  options: [{name: version, required: true}]
  schedule: {crontab: '0 0 12 ? * 2-6 *'}
  sequence: {commands: [{exec: 'true'}]}
)");
  EXPECT_THAT(job.text, Not(HasSubstr("\nkind: trigger\n")));
  EXPECT_THAT(job.text, HasSubstr("\n# kind: trigger\n"));
  EXPECT_THAT(job.text, HasSubstr("#   version: ''\n"));
  EXPECT_EQ(Parsed(job).name, "restart");
  EXPECT_THAT(Notes(job, Carried::kLost), Contains(HasSubstr("no value for version")));
}

TEST(Rundeck, FilterThatIsNoTextGivesNoTargets) {
  for (const char* filters :
       {"{filter: 'name: web.*', filterExclude: ['name: web1', 'name: web2']}",
        "{filter: 'name: web.*', exclude: {name: [web1, web2]}}",
        "{filter: 'name: web.*', exclude: ['name: web1']}", "{filter: ['name: web.*']}"}) {
    const auto job = Only(std::string("- name: a\n  nodefilters: ") + filters +
                          "\n  sequence: {commands: [{exec: 'true'}]}\n");
    EXPECT_THAT(job.text, Not(HasSubstr("\ntargets:"))) << filters;
    EXPECT_THAT(Notes(job, Carried::kLost), Contains(HasSubstr("not one text"))) << filters;
    EXPECT_THAT(Notes(job, Carried::kOver), Not(Contains(HasSubstr("node filter")))) << filters;
  }
  const auto selected = Only(R"(- name: a
  nodefilters: {filter: 'name: web.*'}
  nodesSelectedByDefault: [false]
  sequence: {commands: [{exec: 'true'}]}
)");
  EXPECT_THAT(selected.text, Not(HasSubstr("\ntargets:")));
}

TEST(Rundeck, SecureIsSecretHoweverItIsSaid) {
  for (const char* secure : {"true", "'True'", "yes", "[false, true]", "{x: 1}"}) {
    const auto job =
        Only(std::string("- name: a\n  options: [{name: pw, value: hunter2, secure: ") + secure +
             ", valueExposed: true}]\n  sequence: {commands: [{exec: 'true'}]}\n");
    EXPECT_THAT(job.text, HasSubstr("type: secret")) << secure;
    EXPECT_THAT(job.text, Not(HasSubstr("hunter2"))) << secure;
  }
  const auto plain = Only(R"(- name: a
  options: [{name: v, value: x, secure: false, regex: [a, b]}]
  sequence: {commands: [{exec: 'true', script: 'id'}]}
)");
  EXPECT_THAT(plain.text, Not(HasSubstr("type: secret")));
  EXPECT_THAT(Notes(plain, Carried::kLost), AllOf(Contains(HasSubstr("'regex'")),
                                                  Contains(HasSubstr("the script was left out"))));
}

TEST(Rundeck, StepsGoOnOrAreHandledAsTheyWere) {
  const auto keepgoing = Only(R"(- name: a
  sequence:
    keepgoing: true
    strategy: step-first
    commands:
    - exec: one
    - exec: two
)");
  auto parsed = Parsed(keepgoing);
  ASSERT_EQ(parsed.spec.stages.size(), 2U);
  EXPECT_THAT(keepgoing.text, HasSubstr("switch: {failed: step-2, timed_out: step-2}"));
  EXPECT_EQ(parsed.targets, "");
  const auto handled = Only(R"(- name: a
  nodefilters: {filter: '.*'}
  sequence:
    keepgoing: false
    strategy: node-first
    commands:
    - exec: one
      errorhandler:
        keepgoingOnSuccess: true
        exec: repair
    - exec: two
)");
  parsed = Parsed(handled);
  ASSERT_EQ(parsed.spec.stages.size(), 3U);
  EXPECT_EQ(parsed.targets, "all");
  EXPECT_THAT(handled.text, HasSubstr("switch: {failed: step-1-handler"));
  EXPECT_THAT(handled.text, HasSubstr("recovers: true\n    switch: {succeeded: step-2}"));
  const auto parallel =
      Only("- name: a\n  sequence: {strategy: parallel, commands: [{exec: one}, {exec: two}]}\n");
  EXPECT_EQ(Parsed(parallel).spec.stages.size(), 2U);
}

TEST(Rundeck, NamesThatAreValuesInYamlStayNames) {
  const auto parsed = Parsed(Only(R"(- name: a
  options:
  - name: 'null'
  sequence:
    keepgoing: true
    strategy: step-first
    commands:
    - exec: one
    - exec: echo ${option.null}
      description: 'null'
)"));
  ASSERT_EQ(parsed.params.size(), 1U);
  EXPECT_EQ(parsed.params[0].name, "null");
  EXPECT_THAT(CommandOfStage(parsed, "step-2").script, HasSubstr("MUSTER_PARAM_NULL"));
}

TEST(Rundeck, JobsReferToEachOther) {
  const auto read = Read(R"(- name: Parent
  group: ops
  options:
  - {name: token, secure: true, valueExposed: true}
  sequence:
    commands:
    - jobref:
        group: ops
        name: Child Job
        args: -Level ${option.token} -note "for ${job.username}"
        nodeStep: 'true'
    - jobref: {uuid: abc-1, name: whatever}
    - jobref: {name: Nowhere}
- name: Child Job
  group: ops
  uuid: abc-1
  options: {Level: {required: true}}
  sequence: [{exec: 'true'}]
)");
  ASSERT_THAT(Written(read.problems), IsEmpty());
  ASSERT_EQ(read.jobs.size(), 2U);
  const auto& text = read.jobs[0].text;
  Parsed(read.jobs[0]);
  Parsed(read.jobs[1]);
  EXPECT_THAT(text,
              HasSubstr("name: 'ops.child-job'\n      params:\n        level: '${{ params.token "
                        "}}'\n        note: 'for ${{ run.by }}'\n    batches: [1]"));
  EXPECT_THAT(Notes(read.jobs[0], Carried::kChanged),
              Contains(HasSubstr("'Nowhere' is not among those imported")));
}

TEST(Rundeck, WhatIsNotInTheExportFailsLoudly) {
  const auto job = Only(R"(- name: a
  sequence:
    commands:
    - scriptfile: /srv/it's.sh
      args: a b
    - scripturl: https://example.com/x
    - type: copyfile
      nodeStep: true
      configuration: {sourcePath: /a, destinationPath: /b}
    - exec: echo ${{nothing}}
)");
  Parsed(job);
  EXPECT_THAT(Notes(job, Carried::kLost),
              AllOf(Contains(HasSubstr("4: the script /srv/it's.sh is not in the export")),
                    Contains(HasSubstr("6: the script https://example.com/x")),
                    Contains(HasSubstr("7: step 'step-3' is of plugin 'copyfile' (it configures: "
                                       "sourcePath, destinationPath)"))));
}

TEST(Rundeck, FiltersThatCannotBeSaidAreLeftToTheStart) {
  for (const auto* filter : {"name: web-(a|b)[0-9]", "name: ${option.where}", "tags: 'a b'"}) {
    const auto job = Only(fmt::format(
        "- name: a\n  nodefilters: {{filter: \"{}\"}}\n  sequence: {{commands: [{{exec: x}}]}}\n",
        filter));
    EXPECT_EQ(Parsed(job).targets, "") << filter;
    EXPECT_THAT(Notes(job, Carried::kLost), Contains(HasSubstr("-t"))) << filter;
  }
  const auto old = Only(
      "- name: a\n  nodefilters: {include: {name: 'a,b', rack: r.*}, exclude: {tags: x}}\n"
      "  sequence: {commands: [{exec: x}]}\n");
  EXPECT_EQ(Parsed(old).targets, "(a or b) and rack~\"^(?:r.*)$\" and not @x");
}

TEST(Rundeck, WhatIsNoExportIsToldWithItsPlace) {
  EXPECT_THAT(Written(Read("").problems), ElementsAre(HasSubstr("jobs.yaml:1:1: ")));
  EXPECT_THAT(Written(Read("- name: a\n- nope\n").problems), ElementsAre(HasSubstr(":2:3: ")));
  EXPECT_THAT(Written(Read("<joblist/>\n").problems), ElementsAre(HasSubstr(":1:1: ")));
  EXPECT_THAT(Written(Read("\n[\n\n]\n").problems), ElementsAre(HasSubstr(":2:1: there is no")));
  EXPECT_THAT(Written(Read("- name: a\n- name: a\n").problems), ElementsAre(HasSubstr("twice")));
  EXPECT_THAT(Written(Read("- name: a\n\tb: c\n").problems), Not(IsEmpty()));
}

}  // namespace
}  // namespace muster::imports
