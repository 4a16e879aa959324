#include "server/api/apply_request.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "adapters/artifacts/memory_artifacts.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

class NoClock final : public Clock {
 public:
  Now Read() const override { return {}; }
};

Result<ApplyRequest> Read(const std::string& text) {
  return ReadApplyRequest(json::parse(text).as_object());
}

TEST(ApplyRequest, ReadsFilesAndWhatCameWithThem) {
  const auto request = Read(R"({"documents":[{"file":"a.yaml","text":"x: y",
    "attachments":{"a.sh":"true","b.bin":{"base64":"/w=="}},
    "pushes":{"conf":[{"folder":true,"mode":"0755"},
                      {"path":"a","sha256":")" +
                            std::string(64, 'a') + R"(","size":3}]}}],
    "dry_run":true,"prune":true,"reason":"why"})");
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->files.size(), 1U);
  EXPECT_EQ(request->files[0].attachments.at("a.sh"), "true");
  EXPECT_EQ(request->files[0].attachments.at("b.bin"), "\xff");
  ASSERT_EQ(request->files[0].pushes.at("conf").size(), 2U);
  EXPECT_TRUE(request->files[0].pushes.at("conf")[0].folder);
  EXPECT_EQ(request->files[0].pushes.at("conf")[1].size, 3U);
  EXPECT_TRUE(request->dry_run);
  EXPECT_TRUE(request->prune);
  EXPECT_EQ(request->reason, "why");
}

TEST(ApplyRequest, RefusesWhatIsNone) {
  for (const char* text :
       {R"({})", R"({"documents":{}})", R"({"documents":[]})", R"({"documents":[1]})",
        R"({"documents":[{"text":"x"}]})", R"({"documents":[{"file":"a","text":1}]})",
        R"({"documents":[{"file":"a","text":"x","more":1}]})",
        R"({"documents":[{"file":"a","text":"x"},{"file":"a","text":"y"}]})",
        R"({"documents":[{"file":"a","text":"x","attachments":{"b":1}}]})",
        R"({"documents":[{"file":"a","text":"x","attachments":{"b":{"base64":"?"}}}]})",
        R"({"documents":[{"file":"a","text":"x","pushes":{"b":[]}}]})",
        R"({"documents":[{"file":"a","text":"x","pushes":{"b":[{"sha256":"zz"}]}}]})",
        R"({"documents":[{"file":"a","text":"x"}],"prune":"yes"})",
        R"({"documents":[{"file":"a","text":"x"}],"other":true})"}) {
    const auto request = Read(text);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalid) << text;
  }
}

constexpr const char* kJob =
    "apiVersion: muster/v1\nkind: job\nname: j\nstages:\n"
    "  - name: a\n    script: {file: a.sh}\n"
    "  - name: b\n    push: {from: conf, to: /etc/conf}\n";

ApplyRequest JobRequest() {
  ApplyRequest request;
  AppliedFile file{.file = "j.yaml", .text = kJob, .attachments = {}, .pushes = {}};
  file.attachments = {{"a.sh", "true"}, {"other.sh", "not named by it"}};
  file.pushes["conf"] = {{.path = "", .sha256 = std::string(32, 'x'), .size = 3}};
  request.places = {{file.file, 0}};
  request.files.push_back(std::move(file));
  return request;
}

TEST(ApplyRequest, DocumentKeepsOnlyWhatItNames) {
  const NoClock clock;
  MemoryArtifacts artifacts(clock);
  ApplyRequest request = JobRequest();
  request.dry_run = true;
  const auto reading = ReadFiles(request, artifacts);
  ASSERT_TRUE(reading.problems.empty()) << documents::Written(reading.problems.front());
  const Document kept = KeptOf(reading.documents.at(0), request);
  EXPECT_EQ(kept.kind, "job");
  EXPECT_EQ(kept.name, "j");
  EXPECT_EQ(kept.attachments, (std::map<std::string, std::string>{{"a.sh", "true"}}));
  EXPECT_EQ(kept.pushes.size(), 1U);
  const std::string before = kept.hash;
  request.files[0].pushes["conf"][0].sha256 = std::string(32, 'y');
  EXPECT_NE(KeptOf(ReadFiles(request, artifacts).documents.at(0), request).hash, before);
}

TEST(ApplyRequest, FilesOfAPushCountForEachStageThatPushesThem) {
  const NoClock clock;
  MemoryArtifacts artifacts(clock);
  ApplyRequest request = JobRequest();
  request.dry_run = true;
  request.files[0].pushes["conf"].assign(
      15'000, {.path = "file", .sha256 = std::string(32, 'x'), .size = 3});
  EXPECT_TRUE(ReadFiles(request, artifacts).problems.empty());
  std::string& text = request.files[0].text;
  for (int i = 0; i < 300; ++i)
    text += fmt::format("  - {{name: s{}, push: {{from: conf, to: /etc/conf}}}}\n", i);
  const auto reading = ReadFiles(request, artifacts);
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_NE(reading.problems[0].sentence.find("'conf'"), std::string::npos);
}

TEST(ApplyRequest, FilesThatDidNotComeAreProblemsInTheirPlace) {
  const NoClock clock;
  MemoryArtifacts artifacts(clock);
  ApplyRequest request = JobRequest();
  const auto unsent = ReadFiles(request, artifacts);
  ASSERT_EQ(unsent.problems.size(), 1U);
  EXPECT_EQ(unsent.problems[0].position.line, 8U);
  request.files[0].pushes.clear();
  const auto missing = ReadFiles(request, artifacts);
  ASSERT_EQ(missing.problems.size(), 1U);
  EXPECT_EQ(missing.problems[0].position.line, 8U);
  request.files[0].attachments.clear();
  EXPECT_FALSE(ReadFiles(request, artifacts).problems.empty());
}

}  // namespace
}  // namespace muster::server::api
