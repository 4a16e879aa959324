#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "documents/schema.hpp"
#include "support.hpp"

namespace muster::documents {
namespace {

constexpr std::string_view kHowTo =
    "it is made from the table of keys: build documents_tables and run it with the tree's root";

TEST(TableOfKeys, IsWhatTheSchemaSays) {
  EXPECT_TRUE(FileText("api/job.schema.json") == JsonSchema()) << kHowTo;
}

TEST(TableOfKeys, IsWhatTheReferenceSays) {
  const std::string reference = FileText("docs/jobs/reference.md");
  for (const Shape* shape : AllShapes()) {
    // Told in words: a stage without some of its keys.
    if (shape->name == "inner stage") continue;
    const auto block =
        fmt::format("<!-- keys: {} -->\n{}<!-- end -->\n", shape->name, KeyTable(*shape));
    EXPECT_NE(reference.find(block), std::string::npos) << shape->name << ": " << kHowTo;
  }
}

TEST(TableOfKinds, IsWhatTheReferenceSays) {
  const std::string reference = FileText("docs/jobs/reference.md");
  EXPECT_NE(reference.find("<!-- kinds -->\n" + KindTable() + "<!-- end -->\n"), std::string::npos)
      << kHowTo;
  for (const auto& row : Kinds())
    EXPECT_NE(reference.find(fmt::format("<!-- keys: {} -->\n", row.shape().name)),
              std::string::npos)
        << row.name << " has no chapter";
}

TEST(TableOfKinds, IsWhatTheContractSays) {
  EXPECT_NE(FileText("api/openapi.yaml").find(KindEnum()), std::string::npos) << kHowTo;
}

TEST(TableOfKinds, RowsAreInTheOrderOfTheirKinds) {
  for (std::size_t i = 0; i < Kinds().size(); ++i) {
    const auto& row = Kinds()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.kind), i);
    EXPECT_EQ(row.shape().name, row.name);
    EXPECT_EQ(FindKind(row.plural), &row);
    EXPECT_EQ(ParseKind(row.name), row.kind);
    EXPECT_FALSE(row.about.empty());
    EXPECT_EQ(row.role == Role::kOperator, row.why_role.empty()) << row.name;
  }
}

TEST(TableOfKeys, InnerStagesHaveNoKeysOfTheirOwn) {
  const Shape& stage = *JobShape().Find("stages")->type.item->map;
  const Shape& inner = *stage.Find("stages")->type.item->map;
  std::set<std::string_view> refused;
  for (const auto& key : stage.keys) {
    const Key* same = inner.Find(key.name);
    ASSERT_NE(same, nullptr) << key.name;
    if (key.refused.empty() && !same->refused.empty()) refused.insert(key.name);
  }
  EXPECT_EQ(inner.keys.size(), stage.keys.size());
  EXPECT_EQ(refused, (std::set<std::string_view>{"stages", "needs", "batches", "between",
                                                 "max_failures", "max_unreachable", "on_limit"}));
}

TEST(TableOfKeys, EveryKeyIsUsedByADocumentThatIsReadInFull) {
  std::string documents = FileText("tests/documents/good/kernel-upgrade.yaml");
  for (const auto& file : FilesIn("tests/documents/good"))
    if (file.find("/every-key") != std::string::npos) documents += FileText(file);
  for (const Shape* shape : AllShapes())
    for (const auto name : shape->Names())
      EXPECT_NE(documents.find(std::string(name) + ":"), std::string::npos)
          << shape->name << "." << name;
}

// The fenced YAML of a page: whole documents, or parts of a job.
std::vector<std::string> ExamplesOf(const std::string& page) {
  std::vector<std::string> examples;
  bool inside = false;
  for (const auto line : Split(page, '\n')) {
    if (line == "```yaml") {
      inside = true;
      examples.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      examples.back() += std::string(line) + "\n";
    }
  }
  return examples;
}

TEST(Reference, ExamplesAreReadWithoutProblems) {
  const auto examples = ExamplesOf(FileText("docs/jobs/reference.md"));
  EXPECT_GE(examples.size(), 12U);
  for (auto text : examples) {
    if (!text.starts_with("apiVersion:")) {
      if (text.find("stages:") == std::string::npos)
        text += "stages: [{name: only, script: 'true'}]\n";
      text = JobWith(text);
    }
    const Source source{"reference.md", text};
    const auto all = ReadAll(
        {&source, 1},
        [](const std::string&, const std::string&) -> Result<std::string> { return "true\n"; });
    EXPECT_TRUE(all) << all.error().message << "\n" << text;
  }
}

}  // namespace
}  // namespace muster::documents
