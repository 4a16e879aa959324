#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imports/rundeck.hpp"
#include "imports/xml_reader.hpp"

namespace muster::imports {
namespace {

using testing::HasSubstr;

RundeckJobs ReadText(std::string text) {
  const documents::Source source{"jobs.xml", std::move(text)};
  return ReadRundeck({&source, 1});
}

RundeckJob OnlyJob(std::string text) {
  const auto read = ReadText(std::move(text));
  for (const auto& problem : read.problems) ADD_FAILURE() << documents::Written(problem);
  EXPECT_EQ(read.jobs.size(), 1U);
  return read.jobs.empty() ? RundeckJob{} : read.jobs.front();
}

// Line and column of the only problem.
std::pair<std::uint32_t, std::uint32_t> PlaceOfProblem(std::string text) {
  const auto read = ReadText(std::move(text));
  EXPECT_TRUE(read.jobs.empty());
  EXPECT_EQ(read.problems.size(), 1U);
  if (read.problems.size() != 1) return {};
  return {read.problems.front().position.line, read.problems.front().position.column};
}

// The same job, exported twice.
constexpr const char* kXml = R"(<?xml version="1.0" encoding="UTF-8"?>
<joblist>
  <job>
    <name>disk report</name>
    <group>ops</group>
    <description>Shows how full disks are</description>
    <loglevel>INFO</loglevel>
    <timeout>30m</timeout>
    <context>
      <options>
        <option name="path" value="/" required="true"/>
        <option name="unit" enforcedvalues="true" values="k,m,g" value="g"/>
      </options>
    </context>
    <dispatch><threadcount>10</threadcount><keepgoing>true</keepgoing></dispatch>
    <nodefilters><filter>name: web1</filter></nodefilters>
    <sequence keepgoing="false" strategy="node-first">
      <command><exec>df -h ${option.path} &amp;&amp; echo "&lt;done&gt;"</exec></command>
      <command>
        <script><![CDATA[#!/bin/sh
echo "$RD_OPTION_UNIT"
]]></script>
        <scriptargs>${option.path}</scriptargs>
        <errorhandler><exec>true</exec></errorhandler>
      </command>
    </sequence>
  </job>
</joblist>
)";
constexpr const char* kYaml = R"(- name: disk report
  group: ops
  description: Shows how full disks are
  loglevel: INFO
  timeout: 30m
  options:
  - {name: path, value: /, required: true}
  - {name: unit, enforced: true, values: [k, m, g], value: g}
  nodefilters:
    dispatch: {threadcount: '10', keepgoing: true}
    filter: 'name: web1'
  sequence:
    keepgoing: false
    strategy: node-first
    commands:
    - exec: df -h ${option.path} && echo "<done>"
    - script: |
        #!/bin/sh
        echo "$RD_OPTION_UNIT"
      args: ${option.path}
      errorhandler: {exec: 'true'}
)";

TEST(RundeckXml, IsTheSameJobAsInYaml) {
  const auto xml = OnlyJob(kXml);
  EXPECT_EQ(xml.text, OnlyJob(kYaml).text);
  EXPECT_EQ(xml.name, "ops.disk-report");
}

TEST(RundeckXml, ScheduleBecomesATrigger) {
  const auto job = OnlyJob(R"(<joblist><job><name>a</name>
    <nodefilters><filter>name: web1</filter></nodefilters>
    <schedule><time hour="06" minute="30" seconds="0"/><weekday day="MON,FRI"/><month month="*"/></schedule>
    <sequence><command><exec>true</exec></command></sequence></job></joblist>)");
  EXPECT_THAT(job.text, HasSubstr("kind: trigger"));
  EXPECT_THAT(job.text, HasSubstr("30 06 ? * MON,FRI"));
}

TEST(RundeckXml, ProblemsHaveTheirPlace) {
  EXPECT_EQ(PlaceOfProblem("<joblist>\n  <job>\n"), std::pair(2U, 3U)) << "never closed";
  EXPECT_EQ(PlaceOfProblem("<joblist>\n  <jobs/>\n</joblist>"), std::pair(2U, 3U));
  EXPECT_EQ(PlaceOfProblem("<joblist/>").first, 1U) << "no job";
  EXPECT_EQ(PlaceOfProblem("<project/>").first, 1U) << "another file of Rundeck";
  EXPECT_EQ(PlaceOfProblem("<joblist>&nbsp;</joblist>").first, 1U);
}

TEST(RundeckXml, DocumentTypesAndEntitiesAreRefused) {
  for (const char* text :
       {"<!DOCTYPE joblist SYSTEM \"file:///etc/passwd\"><joblist/>",
        "<!DOCTYPE j [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><joblist>&b;</joblist>",
        "<!DOCTYPE j [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><joblist>&x;</joblist>"}) {
    Findings findings("jobs.xml");
    EXPECT_FALSE(ReadXml(text, findings)) << text;
    EXPECT_EQ(findings.Problems().size(), 1U) << text;
  }
}

TEST(RundeckXml, DepthAndNumberOfPartsAreBounded) {
  std::string deep;
  for (std::size_t i = 0; i <= kMostXmlDepth; ++i) deep += "<a>";
  std::string wide = "<a>";
  for (std::size_t i = 0; i <= kMostXmlParts; ++i) wide += "<b/>";
  wide += "</a>";
  for (const auto& text : {deep, wide, std::string(kMostXmlBytes + 1, ' ')}) {
    Findings findings("jobs.xml");
    EXPECT_FALSE(ReadXml(text, findings));
    EXPECT_FALSE(findings.Good());
  }
}

TEST(RundeckXml, PlacesAreInTheFileAlsoAfterABrokenTag) {
  const auto read = ReadText("<joblist>\n<job>\n<name>a</name>\n<x/>\n<sc/job>\n</joblist>\n");
  ASSERT_FALSE(read.problems.empty());
  EXPECT_LE(read.problems.front().position.line, 6U);
}

}  // namespace
}  // namespace muster::imports
