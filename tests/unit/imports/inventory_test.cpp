#include "imports/inventory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/documents.hpp"

namespace muster::imports {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Inventory Read(std::string text, InventoryFormat format) {
  return ReadInventory({"hosts", std::move(text)}, format);
}

std::vector<std::string> Names(const Inventory& inventory) {
  std::vector<std::string> names;
  for (const auto& host : inventory.hosts) names.push_back(host.name);
  return names;
}

std::vector<std::string> Written(const std::vector<documents::Problem>& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems) lines.push_back(documents::Written(problem));
  return lines;
}

const Labels& LabelsOf(const Inventory& inventory, std::string_view name) {
  static const Labels kNone;
  for (const auto& host : inventory.hosts)
    if (host.name == name) return host.labels;
  ADD_FAILURE() << "no host " << name;
  return kNone;
}

const Inventory::Group& GroupOf(const Inventory& inventory, std::string_view name) {
  static const Inventory::Group kNone;
  for (const auto& group : inventory.groups)
    if (group.name == name) return group;
  ADD_FAILURE() << "no group " << name;
  return kNone;
}

// Whatever was read must be documents that Muster takes.
void ExpectDocuments(const Inventory& inventory) {
  std::string text;
  for (const auto& host : inventory.hosts) text += DocumentOf(host) + "---\n";
  for (const auto& group : inventory.groups) text += DocumentOf(group) + "---\n";
  const documents::Source source{"made.yaml", text};
  const auto reading =
      documents::ReadDocuments({&source, 1}, [](const auto&, const auto&) -> Result<std::string> {
        return Fail(ErrorCode::kNotFound, "no scripts");
      });
  EXPECT_THAT(Written(reading.problems), IsEmpty());
  ASSERT_EQ(reading.documents.size(), inventory.hosts.size() + inventory.groups.size());
  for (std::size_t i = 0; i < inventory.hosts.size(); ++i) {
    const auto& host = std::get<documents::HostDocument>(reading.documents[i].body);
    EXPECT_EQ(host.name, inventory.hosts[i].name);
    EXPECT_EQ(host.labels, inventory.hosts[i].labels);
  }
}

TEST(InventoryLines, HoldNamesRangesAndComments) {
  const auto read = Read("# the lab\nlab1, lab2\n  web[008-010] db1   # and the rest\n\r\n",
                         InventoryFormat::kLines);
  EXPECT_THAT(Names(read), ElementsAre("lab1", "lab2", "web008", "web009", "web010", "db1"));
  EXPECT_THAT(Written(read.problems), IsEmpty());
  ExpectDocuments(read);
}

TEST(InventoryLines, MistakesAreToldWithTheirPlaceAndNothingIsKept) {
  const auto read =
      Read("web1\nü  -bad web[3-1]\nweb1\nzone=sh1\nweb[1-\n", InventoryFormat::kLines);
  EXPECT_THAT(Names(read), IsEmpty());
  EXPECT_THAT(
      Written(read.problems),
      ElementsAre(HasSubstr("hosts:2:1: "), HasSubstr("hosts:2:4: "), HasSubstr("hosts:2:9: "),
                  AllOf(HasSubstr("hosts:3:1: "), HasSubstr("line 1")), HasSubstr("hosts:4:1: "),
                  HasSubstr("hosts:5:1: ")));
}

TEST(InventoryLines, AreBounded) {
  EXPECT_THAT(Written(Read("a[1-100000] b[1-2]\n", InventoryFormat::kLines).problems),
              Contains(HasSubstr("more than")));
  EXPECT_THAT(Written(Read("a[1-99999999999]\n", InventoryFormat::kLines).problems),
              Contains(HasSubstr("more than")));
  EXPECT_EQ(Names(Read("a[1-100000]\n", InventoryFormat::kLines)).size(), kMostInventoryHosts);
  std::string bad;
  for (int i = 0; i < 1000; ++i) bad += "-\n";
  EXPECT_EQ(Read(bad, InventoryFormat::kLines).problems.size(), 21U);
  const auto large = Read(std::string(kMostInventoryBytes + 1, 'a'), InventoryFormat::kLines);
  EXPECT_THAT(Written(large.problems), ElementsAre(HasSubstr("at most")));
  EXPECT_THAT(Written(Read("web1\nweb\x01\n\xff\n", InventoryFormat::kLines).problems),
              ElementsAre(HasSubstr("hosts:2:4:"), HasSubstr("hosts:3:1:")));
}

TEST(InventoryCsv, OtherColumnsAreLabels) {
  const auto read = Read(
      "zone,Name,rack row,note\r\nsh1,web[1-2],r7,\"says \"\"hi\"\",\nthere\"\r\n,db1,,\r\n\r\n",
      InventoryFormat::kCsv);
  EXPECT_THAT(Written(read.problems), IsEmpty());
  EXPECT_THAT(Names(read), ElementsAre("web1", "web2", "db1"));
  EXPECT_THAT(LabelsOf(read, "web2"),
              UnorderedElementsAre(Pair("zone", "sh1"), Pair("rack_row", "r7"),
                                   Pair("note", "says \"hi\",\nthere")));
  EXPECT_THAT(LabelsOf(read, "db1"), IsEmpty());
  EXPECT_THAT(Written(read.remarks), ElementsAre(HasSubstr("hosts:1:11: column 'rack row'")));
  ExpectDocuments(read);
}

TEST(InventoryCsv, SemicolonsAndTabsSeparateToo) {
  EXPECT_THAT(LabelsOf(Read("host;zone\nweb1;a,b\n", InventoryFormat::kCsv), "web1"),
              ElementsAre(Pair("zone", "a,b")));
  EXPECT_THAT(
      LabelsOf(Read("\xEF\xBB\xBFhostname\tzone\nweb1\tsh1", InventoryFormat::kCsv), "web1"),
      ElementsAre(Pair("zone", "sh1")));
}

TEST(InventoryCsv, MistakesAreToldWithTheirPlace) {
  const auto problems = [](std::string text) {
    return Written(Read(std::move(text), InventoryFormat::kCsv).problems);
  };
  EXPECT_THAT(problems(""), ElementsAre(HasSubstr("empty")));
  EXPECT_THAT(problems("a,b\n1,2\n"), ElementsAre(HasSubstr("name, host or hostname")));
  EXPECT_THAT(problems("name,zone,zone\n"), ElementsAre(HasSubstr("hosts:1:11:")));
  EXPECT_THAT(problems("name,9lives\n"), ElementsAre(HasSubstr("hosts:1:6:")));
  EXPECT_THAT(problems("name,zone\nweb1,sh1,what\n"), ElementsAre(HasSubstr("hosts:2:10:")));
  EXPECT_THAT(problems("name,zone\n,sh1\n"), ElementsAre(HasSubstr("hosts:2:1:")));
  EXPECT_THAT(problems("name,zone\nweb1,\"sh1\n"), ElementsAre(HasSubstr("hosts:2:6:")));
  EXPECT_THAT(problems("name,zone\nweb1,\"sh1\"x\n"), ElementsAre(HasSubstr("hosts:2:11:")));
  EXPECT_THAT(problems("name\nweb1\nweb1\n"), ElementsAre(HasSubstr("hosts:3:1:")));
}

constexpr const char* kIni = R"(
# Production.
mail.example.com ansible_port=5555 rack=r1

[web]
www[01:05:2].example.com  http_port=80 motto="to be; or not"
db-[a:c].example.com:2222

[lb]
balance1 ansible_host=10.0.0.7 ansible_password=hunter2

[front:children]
web
lb

[front:vars]
tier = front        # all of them
zone=outer

[lb:vars]
zone=inner
ports=[80, 443]
proxy="{{ groups['lb'] }}"

[empty]
)";

TEST(InventoryAnsible, IniHasGroupsChildrenVarsAndRanges) {
  const auto read = Read(kIni, InventoryFormat::kAnsible);
  EXPECT_THAT(Written(read.problems), IsEmpty());
  EXPECT_THAT(Names(read), ElementsAre("mail.example.com", "www01.example.com", "www03.example.com",
                                       "www05.example.com", "db-a.example.com", "db-b.example.com",
                                       "db-c.example.com", "balance1"));
  EXPECT_THAT(LabelsOf(read, "mail.example.com"), ElementsAre(Pair("rack", "r1")));
  EXPECT_THAT(LabelsOf(read, "www03.example.com"),
              UnorderedElementsAre(Pair("http_port", "80"), Pair("motto", "to be; or not"),
                                   Pair("tier", "front"), Pair("zone", "outer")));
  EXPECT_THAT(LabelsOf(read, "balance1"),
              UnorderedElementsAre(Pair("ansible_host", "10.0.0.7"), Pair("tier", "front"),
                                   Pair("zone", "inner")));
  EXPECT_THAT(GroupOf(read, "front").groups, ElementsAre("lb", "web"));
  EXPECT_EQ(GroupOf(read, "web").hosts.size(), 6U);
  ASSERT_EQ(read.groups.size(), 3U);
  ExpectDocuments(read);
}

TEST(InventoryAnsible, WhatIsLeftOutIsSaid) {
  const auto remarks = Written(Read(kIni, InventoryFormat::kAnsible).remarks);
  EXPECT_THAT(remarks, Contains(AllOf(HasSubstr("hosts:3:"), HasSubstr("'ansible_port'"))));
  EXPECT_THAT(remarks, Contains(AllOf(HasSubstr("hosts:7:"), HasSubstr("port behind"))));
  EXPECT_THAT(remarks, Contains(AllOf(HasSubstr("hosts:10:"), HasSubstr("may hold a secret"))));
  EXPECT_THAT(remarks, Contains(AllOf(HasSubstr("hosts:22:"), HasSubstr("not a list"))));
  EXPECT_THAT(remarks, Contains(AllOf(HasSubstr("hosts:23:"), HasSubstr("template"))));
  EXPECT_THAT(remarks, Contains(HasSubstr("group 'empty' was left out")));
  for (const auto& remark : remarks) EXPECT_THAT(remark, testing::Not(HasSubstr("hunter2")));
}

TEST(InventoryAnsible, YamlSaysTheSame) {
  const auto read = Read(R"(---
all:
  vars: {site: lab}
  hosts:
    mail: {rack: r1}
  children:
    web:
      hosts:
        www[01:02].example.com:
          http_port: 80
      vars:
        site: inner
    both:
      hosts: {extra: }
      children: {web: }
)",
                         InventoryFormat::kAnsible);
  EXPECT_THAT(Written(read.problems), IsEmpty());
  EXPECT_THAT(Names(read), ElementsAre("mail", "www01.example.com", "www02.example.com", "extra"));
  EXPECT_THAT(LabelsOf(read, "mail"),
              UnorderedElementsAre(Pair("rack", "r1"), Pair("site", "lab")));
  EXPECT_THAT(LabelsOf(read, "www02.example.com"),
              UnorderedElementsAre(Pair("http_port", "80"), Pair("site", "inner")));
  // With hosts of its own, a group of groups becomes names.
  EXPECT_THAT(GroupOf(read, "both").hosts,
              UnorderedElementsAre("extra", "www01.example.com", "www02.example.com"));
  EXPECT_THAT(Written(read.remarks), ElementsAre(HasSubstr("group 'both' becomes a list")));
  ExpectDocuments(read);
}

TEST(InventoryAnsible, WhatItsOwnToolsWriteIsRead) {
  const auto anchors = Read(R"(all:
  children:
    web:
      hosts:
        web1:
          ports: &id001
          - 80
          tier: &t front
        web2:
          ports: *id001
          tier: *t
)",
                            InventoryFormat::kAnsible);
  EXPECT_THAT(Written(anchors.problems), IsEmpty());
  ASSERT_EQ(anchors.hosts.size(), 2U);
  EXPECT_EQ(anchors.hosts[1].labels.at("tier"), "front");
  const auto as_text =
      Read("all:\n  children:\n    web:\n      hosts: web1\n", InventoryFormat::kAnsible);
  EXPECT_THAT(Written(as_text.problems), IsEmpty());
  ASSERT_EQ(as_text.hosts.size(), 1U);
  EXPECT_EQ(as_text.hosts[0].name, "web1");
  const auto comment = Read("[web]  # rack: a1\nweb1\n\n[db]\ndb1\n", InventoryFormat::kAnsible);
  EXPECT_THAT(Written(comment.problems), IsEmpty());
  EXPECT_EQ(comment.hosts.size(), 2U);
}

TEST(InventoryAnsible, AliasesStandForABoundedAmount) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += fmt::format("a{0}: &a{0} [", i);
    for (int k = 0; k < 10; ++k) text += fmt::format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    text += "]\n";
  }
  const auto read = Read(text, InventoryFormat::kAnsible);
  EXPECT_THAT(Written(read.problems), ElementsAre(HasSubstr("aliases")));
}

TEST(InventoryAnsible, MistakesAreToldWithTheirPlace) {
  const auto problems = [](std::string text) {
    return Written(Read(std::move(text), InventoryFormat::kAnsible).problems);
  };
  EXPECT_THAT(problems("[web\nweb1\n"), ElementsAre(HasSubstr("hosts:1:1:")));
  EXPECT_THAT(problems("[web:kids]\n"), ElementsAre(HasSubstr("hosts:1:1:")));
  EXPECT_THAT(problems("web1 zone\n"), ElementsAre(HasSubstr("hosts:1:6:")));
  EXPECT_THAT(problems("web1 zone=\"a\n"), ElementsAre(HasSubstr("hosts:1:11:")));
  EXPECT_THAT(problems("web[1-5]\n"), ElementsAre(HasSubstr("[01:20]")));
  EXPECT_THAT(problems("web[1:99999999]\n"), ElementsAre(HasSubstr("more than")));
  EXPECT_THAT(problems("[a:children]\nb\n[b:children]\na\n"),
              ElementsAre(HasSubstr("made of itself")));
  EXPECT_THAT(problems("[a b]\nweb1\n"), ElementsAre(HasSubstr("cannot name a group")));
  EXPECT_THAT(problems("all:\n  hosts: [web1]\n"), ElementsAre(HasSubstr("hosts:2:10:")));
  EXPECT_THAT(problems("all:\n\thosts:\n"), ElementsAre(HasSubstr("hosts:2:1:")));
  EXPECT_THAT(problems("plugin: aws_ec2\nregions: [x]\n"),
              ElementsAre(HasSubstr("ansible-inventory")));
}

TEST(InventoryFormat, IsSeenByNameAndContent) {
  EXPECT_EQ(GuessFormat("hosts", "web1\nweb2\n"), InventoryFormat::kLines);
  EXPECT_EQ(GuessFormat("hosts", "# x\n\n[web]\nweb1\n"), InventoryFormat::kAnsible);
  EXPECT_EQ(GuessFormat("hosts", "web1 zone=sh1\n"), InventoryFormat::kAnsible);
  EXPECT_EQ(GuessFormat("hosts", "all:\n  hosts:\n"), InventoryFormat::kAnsible);
  EXPECT_EQ(GuessFormat("hosts", "zone;Host\n"), InventoryFormat::kCsv);
  EXPECT_EQ(GuessFormat("x.csv", "a\n"), InventoryFormat::kCsv);
  EXPECT_EQ(GuessFormat("x.yml", "a\n"), InventoryFormat::kAnsible);
}

}  // namespace
}  // namespace muster::imports
