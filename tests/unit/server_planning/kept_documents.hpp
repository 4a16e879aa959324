#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"
#include "documents/documents.hpp"

namespace muster::server {

// A store with documents in it, as an engine would have put them there.
class KeptDocuments : public ::testing::Test {
 protected:
  void SetUp() override { fence_ = *store_.TakeTerm(); }

  void Keep(const std::string& kind, const std::string& name, const std::string& body) {
    auto document = std::make_shared<Document>();
    document->kind = kind;
    document->name = name;
    document->version = ++versions_;
    document->text = Text(kind, name, body);
    Commit(PutDocument{document});
  }
  void Drop(const std::string& kind, const std::string& name) { Commit(DropDocument{kind, name}); }
  void Commit(Change change) {
    auto batch = std::make_shared<Batch>();
    batch->changes.push_back(std::move(change));
    fence_.number = CommitNumber(fence_.number.value + 1);
    store_.Commit(batch, fence_.term, fence_.number,
                  [](Result<> done) { EXPECT_TRUE(done) << (done ? "" : done.error().message); });
  }

  static std::string Text(const std::string& kind, const std::string& name,
                          const std::string& body) {
    return "apiVersion: muster/v1\nkind: " + kind + "\nname: " + name + "\n" + body;
  }
  static std::vector<documents::Document> Read(const std::string& text) {
    const documents::Source source{.file = "f.yaml", .text = text};
    auto read = documents::ReadAll({&source, 1}, [](const auto&, const auto& path) {
      return Result<std::string>("# " + path);
    });
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? std::move(*read) : std::vector<documents::Document>{};
  }

  MemoryStore store_;

 private:
  Fence fence_;
  std::uint32_t versions_ = 0;
};

}  // namespace muster::server
