#include "server/peers/shared_artifacts.hpp"

#include "adapters/artifacts/memory_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "unit/adapters_net/fixture.hpp"

namespace muster::server {
namespace {

class StillClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = {}}; }
};

// Another server of the cluster that has one file, and counts what it is given.
class SharedFiles : public net::NetTest {
 protected:
  SharedFiles() {
    handlers_.on_http = [this](const net::HttpRequest& request,
                               const std::shared_ptr<net::HttpExchange>& exchange) {
      if (request.method == "PUT") ++given_;
      const bool has = has_ || request.method == "PUT";
      exchange->BeginSized(has ? 200 : 404, {}, has ? content_.size() : 0);
      if (has) exchange->Write(content_);
      exchange->End();
    };
    Start();
  }
  Result<> Put(const std::string& uploader) {
    auto upload = shared_.Begin(hash_, uploader, content_.size(), 0);
    if (!upload) return Fail(upload.error());
    if (auto added = (*upload)->Append(content_); !added) return added;
    return (*upload)->Finish();
  }

  StillClock clock_;
  MemoryArtifacts own_{clock_};
  SharedArtifacts shared_{
      own_,
      {.servers = [this] { return std::vector<Member>{{.name = "s2", .url = Url()}}; },
       .identity = [this](const std::string&) { return Trusting(); }}};
  std::string Url() const { return fmt::format("https://127.0.0.1:{}", port_); }
  const std::string content_ = "some content";
  const std::string hash_ = crypto::Sha256(content_);
  std::atomic<bool> has_ = true;
  std::atomic<int> given_ = 0;
};

TEST_F(SharedFiles, AFileOfAnotherServerIsFetched) {
  const auto found = shared_.Find(hash_);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->size, content_.size());
  has_ = false;
  EXPECT_TRUE(shared_.Open(hash_)) << "it is here now";
}

TEST_F(SharedFiles, AFetchUnderWayIsWaitedFor) {
  auto fetching = own_.Begin(hash_, "fetch", content_.size(), 0);
  ASSERT_TRUE(fetching);
  EXPECT_EQ(shared_.Open(hash_).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(shared_.Find(hash_).error().code, ErrorCode::kUnavailable);
  fetching->reset();
  EXPECT_TRUE(shared_.Open(hash_));
}

TEST_F(SharedFiles, AnUploadHoldsNoFetchUp) {
  auto upload = shared_.Begin(hash_, "host a", content_.size(), 0);
  ASSERT_TRUE(upload);
  EXPECT_TRUE(shared_.Open(hash_));
  EXPECT_EQ(*shared_.Uploaded(hash_, "host a"), 0U);
}

TEST_F(SharedFiles, AFileIsGivenToAnotherServerOnce) {
  has_ = false;
  EXPECT_EQ(shared_.Open(hash_).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Put("host a"));
  EXPECT_EQ(given_, 1);
  ASSERT_TRUE(Put("host b"));
  EXPECT_EQ(given_, 1);
}

}  // namespace
}  // namespace muster::server
