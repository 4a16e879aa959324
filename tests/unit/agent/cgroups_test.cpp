// Where groups are made and what is written to them, on folders that look like the kernel's.
#include "agent/host/cgroups.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "agent/files.hpp"
#include "agent/host/cgroup_places.hpp"
#include "temp_folder.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kHybrid =
    "12:pids:/system.slice\n"
    "4:memory:/a/b\n"
    "2:cpu,cpuacct:/\n"
    "1:name=systemd:/x\n"
    "0::/system.slice/muster-agent.service\n";

TEST(CgroupPlaces, OwnGroupIsFoundByController) {
  EXPECT_EQ(OwnGroup(kHybrid, "memory"), "/a/b");
  EXPECT_EQ(OwnGroup(kHybrid, "cpu"), "/");
  EXPECT_EQ(OwnGroup(kHybrid, "pids"), "/system.slice");
  EXPECT_EQ(OwnGroup(kHybrid, "io"), std::nullopt);
  EXPECT_EQ(OwnGroup(kHybrid, ""), "/system.slice/muster-agent.service");
  EXPECT_EQ(OwnGroup("2:cpu:/\n", ""), std::nullopt);
  EXPECT_EQ(OwnGroup("", ""), std::nullopt);
  EXPECT_EQ(OwnGroup("nonsense\n1:\n", "cpu"), std::nullopt);
}

TEST(CgroupPlaces, FolderIsFoundThroughTheMounts) {
  constexpr std::string_view kMounts =
      "24 30 0:22 / /proc rw - proc proc rw\n"
      "31 24 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
      "32 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "33 24 0:28 /docker/1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "34 24 0:29 / /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw,nsdelegate\n";
  EXPECT_EQ(GroupFolder(kMounts, "memory", "/a/b"), "/sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(GroupFolder(kMounts, "cpu", "/"), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(GroupFolder(kMounts, "pids", "/docker/1/x"), "/sys/fs/cgroup/pids/x");
  EXPECT_EQ(GroupFolder(kMounts, "pids", "/docker/12"), std::nullopt);
  EXPECT_EQ(GroupFolder(kMounts, "", "/a"), "/sys/fs/my groups/a");
  EXPECT_EQ(GroupFolder(kMounts, "", "/../b"), std::nullopt);
  EXPECT_EQ(GroupFolder(kMounts, "io", "/"), std::nullopt);
  EXPECT_EQ(GroupFolder("broken - \n\n", "io", "/"), std::nullopt);
}

class CgroupsTest : public ::testing::Test {
 protected:
  // A tree of version 2 with our group in it, as far as plain files can play it.
  Cgroups OpenV2(const std::string& controllers, const std::string& handed_down) {
    Make("v2/svc", {{"cgroup.controllers", controllers + "\n"},
                    {"cgroup.subtree_control", handed_down + "\n"},
                    {"cgroup.procs", ""}});
    Put("own", "0::/svc\n");
    Put("mounts", fmt::format("1 1 0:1 / {}/v2 rw - cgroup2 cgroup2 rw\n", folder_.Path()));
    return OpenHere();
  }
  Result<> ReleaseFrom(const std::string& own) {
    Put("own", own);
    return Cgroups::Release({.mounts = folder_ / "mounts", .own = folder_ / "own"});
  }
  Cgroups OpenV1() {
    Make("memory/a", {});
    Make("pids", {});
    Put("own", "3:memory:/a\n2:pids:/\n");
    Put("mounts", fmt::format("1 1 0:1 / {0}/memory rw - cgroup cgroup rw,memory\n"
                              "2 1 0:2 / {0}/pids rw - cgroup cgroup rw,pids\n",
                              folder_.Path()));
    return OpenHere();
  }
  Cgroups OpenHere() const {
    auto groups = Cgroups::Open({.mounts = folder_ / "mounts", .own = folder_ / "own"});
    groups.UsePrefix("muster-x-");
    return groups;
  }
  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile(folder_ / name, text));
  }
  void Make(const std::string& group, const std::map<std::string, std::string>& files) {
    ASSERT_TRUE(MakeFolders(folder_ / group, 0755));
    for (const auto& [name, text] : files) Put(group + "/" + name, text);
  }
  std::string Get(const std::string& name) const {
    const auto text = ReadFile(folder_ / name);
    return text ? *text : "(" + text.error().message + ")";
  }

  TempFolder folder_;
  const Resources all_{.memory = 512 << 20, .cpu = 1500, .processes = 100};
};

TEST_F(CgroupsTest, WritesTheLimitsOfVersion2) {
  const auto groups = OpenV2("cpuset cpu io memory pids", "cpu memory pids");
  for (const auto resource : kResources) EXPECT_FALSE(groups.WhyNot(resource));
  const auto group = groups.GroupOf("r1", all_);
  ASSERT_TRUE(group) << group.error().message;
  Make("v2/svc/muster-x-r1", {{"memory.max", ""},
                              {"memory.swap.max", ""},
                              {"memory.oom.group", ""},
                              {"cpu.max", ""},
                              {"pids.max", ""},
                              {"cgroup.procs", ""}});
  const auto made = group->Make(all_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(Get("v2/svc/muster-x-r1/memory.max"), "536870912");
  EXPECT_EQ(Get("v2/svc/muster-x-r1/memory.swap.max"), "0");
  EXPECT_EQ(Get("v2/svc/muster-x-r1/memory.oom.group"), "1");
  EXPECT_EQ(Get("v2/svc/muster-x-r1/cpu.max"), "150000 100000");
  EXPECT_EQ(Get("v2/svc/muster-x-r1/pids.max"), "100");
  EXPECT_EQ(group->Doors(), std::vector<std::string>{folder_ / "v2/svc/muster-x-r1/cgroup.procs"});
}

TEST_F(CgroupsTest, WritesTheLimitsOfVersion1) {
  const auto groups = OpenV1();
  EXPECT_FALSE(groups.WhyNot(Resource::kMemory));
  EXPECT_FALSE(groups.WhyNot(Resource::kProcesses));
  EXPECT_TRUE(groups.WhyNot(Resource::kCpu));
  const Resources limits{.memory = 64 << 20, .processes = 9};
  const auto group = groups.GroupOf("r1", limits);
  ASSERT_TRUE(group) << group.error().message;
  Make("memory/a/muster-x-r1", {{"memory.limit_in_bytes", ""}, {"cgroup.procs", ""}});
  Make("pids/muster-x-r1", {{"pids.max", ""}, {"cgroup.procs", ""}});
  const auto made = group->Make(limits);
  ASSERT_TRUE(made) << made.error().message;  // though this kernel counts no swap
  EXPECT_EQ(Get("memory/a/muster-x-r1/memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(Get("pids/muster-x-r1/pids.max"), "9");
  EXPECT_EQ(group->Doors(), (std::vector<std::string>{folder_ / "memory/a/muster-x-r1/cgroup.procs",
                                                      folder_ / "pids/muster-x-r1/cgroup.procs"}));
}

TEST_F(CgroupsTest, CpuOfVersion1HasQuotaAndPeriod) {
  Make("cpu/t", {{"cpu.cfs_period_us", ""}, {"cpu.cfs_quota_us", ""}});
  const TaskGroup group({{Resource::kCpu, GroupVersion::kV1, folder_ / "cpu/t"}});
  ASSERT_TRUE(group.Make({.cpu = 250}));
  EXPECT_EQ(Get("cpu/t/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(Get("cpu/t/cpu.cfs_quota_us"), "25000");
}

TEST_F(CgroupsTest, ReadsWhatWasUsed) {
  Make("two", {{"memory.peak", "1048576\n"},
               {"memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n"}});
  const auto two = TaskGroup({{Resource::kMemory, GroupVersion::kV2, folder_ / "two"}}).Read();
  EXPECT_EQ(two.peak_memory, 1U << 20);
  EXPECT_EQ(two.oom_kills, 3U);
  Make("one", {{"memory.max_usage_in_bytes", "4096\n"},
               {"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}});
  const auto one = TaskGroup({{Resource::kMemory, GroupVersion::kV1, folder_ / "one"}}).Read();
  EXPECT_EQ(one.peak_memory, 4096U);
  EXPECT_EQ(one.oom_kills, 1U);
  const auto none = TaskGroup({{Resource::kMemory, GroupVersion::kV2, "/nowhere"}}).Read();
  EXPECT_EQ(none.peak_memory, 0U);
  EXPECT_EQ(none.oom_kills, 0U);
}

TEST_F(CgroupsTest, HandsControllersDown) {
  const auto groups = OpenV2("memory", "");
  EXPECT_FALSE(groups.WhyNot(Resource::kMemory));
  EXPECT_EQ(Get("v2/svc/cgroup.subtree_control"), "+memory");
  EXPECT_TRUE(groups.WhyNot(Resource::kCpu));
  EXPECT_NE(groups.WhyNot(Resource::kCpu)->find("cpu"), std::string::npos);
}

TEST_F(CgroupsTest, ReleasesWhatWasHandedDownByAnAgentThatMoved) {
  OpenV2("cpu io memory pids", "cpu io memory pids");
  ASSERT_TRUE(ReleaseFrom("0::/svc/.control\n"));
  EXPECT_EQ(Get("v2/svc/cgroup.subtree_control"), "cpu io memory pids\n") << "nobody moved";
  Make("v2/svc/agent", {});
  ASSERT_TRUE(ReleaseFrom("0::/svc/.control\n"));
  EXPECT_EQ(Get("v2/svc/cgroup.subtree_control"), "-memory -cpu -pids ");
  EXPECT_TRUE(ReleaseFrom("0::/svc\n")) << "nothing is handed down any more";
  EXPECT_TRUE(ReleaseFrom("0::/elsewhere\n"));
  EXPECT_TRUE(ReleaseFrom("4:memory:/a/b\n"));
}

TEST_F(CgroupsTest, ALimitThatCannotBeSetIsRefused) {
  const auto groups = OpenV2("memory", "memory");
  const auto refused = groups.GroupOf("r1", all_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(groups.GroupOf("r1", {.memory = 1 << 20}));
  const auto none = Cgroups::None("no reason").GroupOf("r1", {.memory = 1 << 20});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no reason"), std::string::npos);
  EXPECT_TRUE(Cgroups::None("no reason").GroupOf("r1", {}));
}

TEST_F(CgroupsTest, AGroupThatTakesNoLimitIsNotLeftBehind) {
  const auto groups = OpenV2("memory", "memory");
  const auto group = groups.GroupOf("r1", {.memory = 1 << 20});
  ASSERT_TRUE(group);
  EXPECT_FALSE(group->Make({.memory = 1 << 20}));  // a plain folder has no memory.max
  EXPECT_FALSE(Exists(folder_ / "v2/svc/muster-x-r1"));
}

TEST_F(CgroupsTest, TidyRemovesOnlyItsOwnEmptyGroupsOfNoTask) {
  const auto groups = OpenV2("memory", "memory");
  for (const char* name : {"muster-x-r1", "muster-x-r2", "muster-y-r1", "agent"})
    Make(std::string("v2/svc/") + name, {});
  Make("v2/svc/muster-x-r3/alive", {});
  groups.Tidy({"r2"});
  EXPECT_FALSE(Exists(folder_ / "v2/svc/muster-x-r1"));
  for (const char* name : {"muster-x-r2", "muster-x-r3", "muster-y-r1", "agent"})
    EXPECT_TRUE(Exists(folder_ / (std::string("v2/svc/") + name))) << name;
}

TEST_F(CgroupsTest, KeptInTheTasksFolder) {
  const TaskGroup group({{Resource::kMemory, GroupVersion::kV1, "/sys/fs/cgroup/memory/a b/x"},
                         {Resource::kProcesses, GroupVersion::kV2, "/sys/fs/cgroup/x"}});
  const auto parsed = TaskGroup::Parse(group.Encode());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->Parts(), group.Parts());
  for (const char* text : {"", "\n", "memory", "memory 3 /x\n", "disk 1 /x\n", "memory 1/x\n"})
    EXPECT_FALSE(TaskGroup::Parse(text)) << text;
}

TEST_F(CgroupsTest, WithoutTheKernelsTablesNothingIsLimited) {
  const auto groups = OpenHere();
  for (const auto resource : kResources) EXPECT_TRUE(groups.WhyNot(resource));
  Put("own", "");
  Put("mounts", "");
  for (const auto resource : kResources) EXPECT_TRUE(OpenHere().WhyNot(resource));
}

}  // namespace
}  // namespace muster::agent
