#include <gtest/gtest.h>

#include "support.hpp"

namespace muster::documents {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

JobDocument JobOfFile(const std::string& path) {
  auto reading = ReadTreeFile(path);
  for (const auto& problem : reading.problems) ADD_FAILURE() << Written(problem);
  if (reading.documents.empty()) return {};
  return std::get<JobDocument>(reading.documents.front().body);
}

const StageSpec& StageOf(const JobDocument& job, std::string_view name) {
  for (const auto& stage : job.spec.stages)
    if (stage.name == name) return stage;
  ADD_FAILURE() << "no stage " << name;
  static const StageSpec none;
  return none;
}

class KernelUpgrade : public testing::Test {
 protected:
  const JobDocument job_ = JobOfFile("tests/documents/good/kernel-upgrade.yaml");

  const StageSpec& Stage(std::size_t index, std::string_view name) const {
    EXPECT_EQ(job_.spec.stages.at(index).name, name);
    return job_.spec.stages.at(index);
  }
  const Command& CommandAt(std::size_t index) const {
    return *CommandOf(job_.spec.stages.at(index));
  }
};

TEST_F(KernelUpgrade, HeadIsTaken) {
  EXPECT_EQ(job_.name, "kernel-upgrade");
  EXPECT_EQ(job_.targets, "app=web and zone=sh1");
  EXPECT_EQ(job_.spec.title, "kernel-upgrade");
  EXPECT_EQ(job_.spec.job, "kernel-upgrade");
  EXPECT_EQ(job_.spec.targets, "app=web and zone=sh1");
  EXPECT_EQ(job_.spec.timeout, hours(2));
  EXPECT_EQ(job_.spec.priority, Priority::kNormal);
  EXPECT_TRUE(job_.spec.limits.empty());
  EXPECT_FALSE(job_.max_hosts);
  EXPECT_FALSE(job_.max_percent);
  const std::vector<ParamSpec> params = {
      {.name = "version", .required = true, .pattern = "^[0-9.]+$"},
      {.name = "token", .type = ParamType::kSecret}};
  EXPECT_EQ(job_.params, params);
  const std::vector<Notice> notices = {
      {{"succeeded", "failed", "paused", "awaiting_approval"}, "ops-chat"}};
  EXPECT_EQ(job_.spec.notices, notices);
}

TEST_F(KernelUpgrade, StagesAreFlatInTheirOrder) {
  ASSERT_EQ(job_.spec.stages.size(), 9U);
  const char* names[] = {"precheck", "package", "go",         "roll",    "upgrade",
                         "restart",  "verify",  "roll-check", "rollback"};
  for (std::size_t i = 0; i < 9; ++i) {
    const StageSpec& stage = Stage(i, names[i]);
    const bool inner = i >= 4 && i <= 7;
    EXPECT_EQ(stage.parent, inner ? std::optional<std::uint32_t>(3) : std::nullopt) << stage.name;
    EXPECT_EQ(stage.section, i == 7   ? Section::kBetween
                             : i == 8 ? Section::kBranch
                                      : Section::kMain);
    EXPECT_FALSE(stage.needs) << stage.name;
    EXPECT_EQ(stage.hosts, i == 8 ? HostChoice::kTouched : HostChoice::kOk);
  }
}

TEST_F(KernelUpgrade, ScriptsAreTaken) {
  EXPECT_EQ(CommandAt(0).script, "uname -r; df --output=pcent / | tail -1\n");
  EXPECT_EQ(CommandAt(0).timeout, seconds(30));
  EXPECT_EQ(CommandAt(0).max_output, Command::kShareOfRun);
  EXPECT_EQ(Stage(0, "precheck").retries, (Retries{2, seconds(5)}));
  EXPECT_EQ(Stage(0, "precheck").on_limit, OnLimit::kFail);
  EXPECT_EQ(CommandAt(4).script, "#!/bin/sh\necho \"upgrading to $1\"\n");
  EXPECT_EQ(CommandAt(4).args, std::vector<std::string>{"${{ params.version }}"});
  EXPECT_EQ(CommandAt(4).user, "root");
  EXPECT_EQ(CommandAt(4).timeout, hours(1));
  EXPECT_EQ(CommandAt(6).script, "uname -r | grep -q \"$MUSTER_PARAM_VERSION\"");
  EXPECT_EQ(CommandAt(7).script, "curl -sf localhost/health");
  EXPECT_EQ(CommandAt(8).script, "#!/bin/sh\necho \"rolling back\"\n");
}

TEST_F(KernelUpgrade, PushRebootAndApprovalAreTaken) {
  const FilePush push{.files = {},
                      .tree = false,
                      .content = "",
                      .to = "/var/tmp/kernel.deb",
                      .name = "kernel.deb",
                      .mode = 0644,
                      .owner = "root",
                      .rate = 0};
  ASSERT_TRUE(CommandAt(1).push);
  EXPECT_EQ(*CommandAt(1).push, push);
  ASSERT_TRUE(CommandAt(5).reboot);
  EXPECT_EQ(*CommandAt(5).reboot, Reboot{});
  EXPECT_EQ(CommandAt(5).timeout, minutes(15));
  const ApproveAction approve{"Upgrade to ${{ params.version }} on ${{ targets.count }} hosts?",
                              {"operator"},
                              true,
                              hours(1)};
  EXPECT_EQ(std::get<ApproveAction>(Stage(2, "go").action), approve);
}

TEST_F(KernelUpgrade, RollingIsTaken) {
  const StageSpec& roll = Stage(3, "roll");
  EXPECT_TRUE(std::holds_alternative<SequenceAction>(roll.action));
  EXPECT_EQ(FormatBatchPlan(roll.batches), "1,10%,100%");
  EXPECT_EQ(roll.between_wait, minutes(5));
  EXPECT_FALSE(roll.between_approve);
  EXPECT_EQ(roll.max_failures, (HostShare{2, true}));
  EXPECT_EQ(roll.on_limit, OnLimit::kFail);
  ASSERT_EQ(roll.next.size(), 1U);
  EXPECT_EQ(roll.next.at("failed"), 8U);
}

TEST_F(KernelUpgrade, FilesAreListedWithTheirPlaces) {
  using enum FileReference::Use;
  const std::vector<FileReference> files = {{kPush, 1, "files/kernel.deb", {17, 18}},
                                            {kScript, 4, "files/upgrade.sh", {28, 24}},
                                            {kScript, 8, "files/rollback.sh", {36, 20}}};
  EXPECT_EQ(job_.files, files);
}

class EveryKey : public testing::Test {
 protected:
  const JobDocument job_ = JobOfFile("tests/documents/good/every-key.yaml");

  const StageSpec& Stage(std::string_view name) const { return StageOf(job_, name); }
  std::uint32_t Index(std::string_view name) const {
    return static_cast<std::uint32_t>(&Stage(name) - job_.spec.stages.data());
  }
};

TEST_F(EveryKey, Params) {
  ASSERT_EQ(job_.params.size(), 7U);
  EXPECT_EQ(job_.params[0], ParamSpec{.name = "plain"});
  EXPECT_EQ(job_.params[1], (ParamSpec{.name = "count",
                                       .type = ParamType::kInteger,
                                       .fallback = "3",
                                       .pattern = "^[0-9]$",
                                       .description = "How many."}));
  EXPECT_EQ(job_.params[4].choices, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(job_.params[5].fallback, "secret:db");
}

TEST_F(EveryKey, CapsPriorityAndNotices) {
  EXPECT_EQ(job_.description, "Uses everything once, also a ${{ in prose.");
  EXPECT_EQ(job_.owner, "ops@example.com");
  EXPECT_EQ(job_.max_hosts, 50U);
  EXPECT_EQ(job_.max_percent, 10U);
  EXPECT_EQ(job_.spec.priority, Priority::kHigh);
  EXPECT_EQ(job_.spec.timeout, minutes(90));
  const std::vector<Notice> notices = {{{"failed"}, "ops"}, {{"timed_out", "cancelled"}, "mail"}};
  EXPECT_EQ(job_.spec.notices, notices);
}

TEST_F(EveryKey, LimitsStandWhereTheyAreTaken) {
  const std::vector<KeyLimit> of_run = {{"deploy/${{ params.version }}", 2}};
  EXPECT_EQ(job_.spec.limits, of_run);
  const std::vector<KeyLimit> of_task = {{"cluster/${{ host.cluster }}", 1},
                                         {"rack/${{ host.rack }}", 1}};
  EXPECT_EQ(Stage("prepare").limits, of_task);
  EXPECT_EQ(Stage("work").limits, std::vector<KeyLimit>{of_task[1]});
  EXPECT_TRUE(Stage("group").limits.empty());
  EXPECT_TRUE(Stage("ask").limits.empty());
}

TEST_F(EveryKey, Script) {
  const StageSpec& stage = Stage("prepare");
  const Command& command = *CommandOf(stage);
  EXPECT_EQ(command.script, "#!/usr/bin/python3\nprint(\"hi\")\n");
  EXPECT_EQ(command.args,
            (std::vector<std::string>{"${{ host.name }}", "5", "${{ params.colour | upper }}"}));
  const std::vector<std::pair<std::string, std::string>> env = {
      {"ZONE", "${{ host.labels.zone | default: 'none' }}"}};
  EXPECT_EQ(command.env, env);
  EXPECT_EQ(command.secrets, (std::vector<SecretUse>{{"PASSWORD", "db"}}));
  EXPECT_EQ(command.stdin_data, "${{ params.count }}");
  EXPECT_EQ(command.user, "web");
  EXPECT_EQ(command.folder, "/srv/${{ host.labels['app.name'] }}");
  EXPECT_EQ(command.interpreter, "/usr/bin/python3");
  EXPECT_EQ(command.timeout, minutes(10));
  EXPECT_EQ(command.grace, seconds(3));
  EXPECT_EQ(command.max_output, 1U << 20);
  EXPECT_TRUE(command.kill_leftovers);
  EXPECT_EQ(command.resources, (Resources{512U << 20, 500, 100}));
}

TEST_F(EveryKey, StageOptions) {
  const StageSpec& stage = Stage("prepare");
  EXPECT_EQ(stage.retries, (Retries{3, seconds(5)}));
  EXPECT_EQ(stage.repeat, Repeat::kSafe);
  EXPECT_EQ(stage.hosts, HostChoice::kAll);
  EXPECT_EQ(stage.when, "params.force == 'true'");
  EXPECT_EQ(stage.max_visits, 3U);
  EXPECT_TRUE(stage.recovers);
  EXPECT_EQ(stage.concurrency, 20U);
  EXPECT_EQ(FormatBatchPlan(stage.batches), "20 +10");
  EXPECT_EQ(stage.max_failures, (HostShare{5, false}));
  EXPECT_EQ(stage.on_limit, OnLimit::kPause);
  EXPECT_EQ(stage.spread, minutes(30));
  EXPECT_EQ(stage.wait_offline, minutes(1));
  EXPECT_EQ(Stage("child").on_limit, OnLimit::kFail);
  EXPECT_EQ(FormatBatchPlan(Stage("child").batches), "1,50%");
}

TEST_F(EveryKey, Needs) {
  EXPECT_EQ(Stage("prepare").needs, std::vector<std::uint32_t>{});
  EXPECT_EQ(Stage("motd").needs, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(Stage("collect").needs, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(Stage("collect-one").needs);
}

TEST_F(EveryKey, PushAndPull) {
  const FilePush& push = *CommandOf(Stage("motd"))->push;
  EXPECT_EQ(push.content, "from ${{ stages.prepare.outputs.who }}\n");
  EXPECT_EQ(push.to, "/etc/motd");
  EXPECT_EQ(push.rate, 10U << 20);
  EXPECT_FALSE(push.mode);
  EXPECT_EQ(CommandOf(Stage("motd"))->timeout, minutes(5));
  const FilePull pull{{"/var/log/app-*.log", "/etc/${{ params.plain }}"}, 2ULL << 30, 1U << 20};
  EXPECT_EQ(*CommandOf(Stage("collect"))->pull, pull);
  EXPECT_EQ(CommandOf(Stage("collect-one"))->pull->paths,
            std::vector<std::string>{"/etc/hostname"});
  EXPECT_EQ(CommandOf(Stage("collect-two"))->pull->paths.size(), 2U);
}

TEST_F(EveryKey, Reboot) {
  EXPECT_TRUE(CommandOf(Stage("boot"))->reboot->argv.empty());
  EXPECT_EQ(CommandOf(Stage("boot"))->timeout, minutes(15));
  EXPECT_EQ(CommandOf(Stage("boot-own-way"))->reboot->argv,
            (std::vector<std::string>{"systemctl", "kexec"}));
  EXPECT_EQ(CommandOf(Stage("boot-own-way"))->timeout, minutes(20));
  EXPECT_EQ(CommandOf(Stage("boot-line"))->reboot->argv,
            (std::vector<std::string>{"/bin/sh", "-c", "sleep 1; reboot"}));
}

TEST_F(EveryKey, ApproveAndWait) {
  const auto& ask = std::get<ApproveAction>(Stage("ask").action);
  EXPECT_EQ(ask.message, "Go on with ${{ stages.prepare.all.who }}?");
  EXPECT_EQ(ask.timeout, minutes(30));
  const auto& more = std::get<ApproveAction>(Stage("ask-more").action);
  EXPECT_EQ(more.by, std::vector<std::string>{"alice"});
  EXPECT_EQ(more.timeout, hours(24));
  EXPECT_EQ(Stage("ask-more").next.at("failed"), StageSpec::kEnd);
  EXPECT_EQ(Stage("ask-more").next.at("default"), Index("pause-a-bit"));
  EXPECT_EQ(std::get<WaitAction>(Stage("pause-a-bit").action).time, seconds(90));
  EXPECT_EQ(std::get<WaitAction>(Stage("until-then").action).until, "2030-01-01T00:00:00Z");
  EXPECT_EQ(std::get<WaitAction>(Stage("for-then").action).time, minutes(1));
}

TEST_F(EveryKey, HttpNotifyAndJob) {
  const HttpAction http{"POST",
                        "https://cmdb.example/api/${{ run.id }}",
                        {{"X-Run", "${{ run.job }}"}, {"Content-Type", "application/json"}},
                        "{\"by\": ${{ run.by | json }}, \"pass\": ${{ run.pass }}}",
                        {200, 201},
                        {{"ticket", "/result/0/id"}},
                        seconds(5)};
  EXPECT_EQ(std::get<HttpAction>(Stage("call").action), http);
  EXPECT_EQ(std::get<HttpAction>(Stage("call-short").action).method, "GET");
  EXPECT_EQ(std::get<HttpAction>(Stage("call-short").action).expect,
            std::vector<std::uint16_t>{204});
  const NotifyAction notify{
      "ops", "ticket ${{ stages.call.outputs.ticket }} for ${{ targets.expression }}"};
  EXPECT_EQ(std::get<NotifyAction>(Stage("tell").action), notify);
  const JobAction job{"cleanup",
                      {{"version", "${{ params.version }}"}, {"secret", "${{ params.pass-word }}"}},
                      false};
  EXPECT_EQ(std::get<JobAction>(Stage("child").action), job);
  EXPECT_EQ(std::get<JobAction>(Stage("child-short").action), (JobAction{"cleanup", {}, true}));
}

TEST_F(EveryKey, Conditions) {
  const auto condition = [this](std::string_view name) {
    return std::get<ConditionAction>(Stage(name).action);
  };
  ConditionAction disk;
  disk.request = {"POST",
                  "https://metrics.example/${{ trigger.name | default: 'none' }}",
                  {{"Content-Type", "application/json"}},
                  "{\"since\": \"${{ trigger.data.cursor | default: '' }}\"}",
                  {200},
                  {},
                  seconds(4)};
  disk.value = "/data/result/0/value/1";
  disk.bound = "0.9";
  disk.hold = minutes(10);
  disk.missing = MissingValue::kFiring;
  EXPECT_EQ(condition("disk"), disk);
  EXPECT_EQ(Stage("disk").retries.max, 2U);
  EXPECT_EQ(Stage("disk").next.at("firing"), Index("load"));
  EXPECT_EQ(condition("load").comparison, Comparison::kBelow);
  EXPECT_EQ(condition("load").bound, "${{ params.count }}");
  EXPECT_EQ(condition("load").missing, MissingValue::kOk);
  EXPECT_EQ(condition("load").request.timeout, seconds(6));
  EXPECT_EQ(condition("load").value, "");
  EXPECT_EQ(condition("up").value, ConditionAction::kStatus);
  EXPECT_EQ(condition("up").comparison, Comparison::kEquals);
  EXPECT_EQ(condition("up").hold, Duration::zero());
  EXPECT_EQ(condition("up").request.timeout, seconds(30));
  EXPECT_EQ(condition("differs-least").comparison, Comparison::kAtLeast);
  EXPECT_EQ(condition("differs-most").comparison, Comparison::kAtMost);
  EXPECT_EQ(condition("differs").comparison, Comparison::kDiffers);
}

TEST_F(EveryKey, InnerStagesAndCheck) {
  const StageSpec& group = Stage("group");
  EXPECT_EQ(FormatBatchPlan(group.batches), "1 *2");
  EXPECT_EQ(group.between_wait, seconds(10));
  ASSERT_TRUE(group.between_approve);
  EXPECT_EQ(group.between_approve->message, "Batch done. Next?");
  EXPECT_EQ(Stage("drain").parent, Index("group"));
  EXPECT_EQ(Stage("drain").next.at("slow"), Index("undrain"));
  EXPECT_EQ(Stage("drain").next.at("failed"), StageSpec::kEnd);
  const StageSpec& check = Stage("group-check");
  EXPECT_EQ(check.section, Section::kBetween);
  EXPECT_EQ(check.parent, Index("group"));
  EXPECT_EQ(check.retries.max, 1U);
  EXPECT_EQ(check.concurrency, 5U);
  EXPECT_EQ(CommandOf(check)->timeout, seconds(20));
  EXPECT_EQ(CommandOf(check)->resources.cpu, 1000U);
  EXPECT_EQ(Stage("repair").section, Section::kBranch);
  EXPECT_EQ(Stage("report").section, Section::kFinally);
}

TEST(SetPushFiles, FillsTheStageInAndChangesTheHash) {
  auto reading = ReadTreeFile("tests/documents/good/kernel-upgrade.yaml");
  ASSERT_EQ(reading.documents.size(), 1U);
  auto& document = reading.documents.front();
  const auto before = ContentHash(document);
  auto& job = std::get<JobDocument>(document.body);
  const FileEntry file{"", std::string(32, 'x'), 5, 0644, false};
  SetPushFiles(job, job.files.front(), {file}, false);
  EXPECT_EQ(CommandOf(job.spec.stages[1])->push->files, std::vector<FileEntry>{file});
  EXPECT_EQ(CommandOf(job.spec.stages[1])->push->to, "/var/tmp/kernel.deb");
  EXPECT_NE(ContentHash(document), before);
}

}  // namespace
}  // namespace muster::documents
