#include "server/api/artifacts.hpp"

#include <boost/json.hpp>

#include "adapters/artifacts/file_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "support/temp_folder.hpp"
#include "unit/adapters_net/fixture.hpp"

namespace muster::server::api {
namespace {

using namespace std::chrono_literals;

class StandingClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = {}}; }
};

// Callers with a token, over the routes as they are served.
class ArtifactCalls : public net::NetTest {
 protected:
  ArtifactCalls() {
    people_.Take({Person("op", Role::kOperator), Person("view", Role::kViewer)}, {}, true);
    services_.ask = [this](const FileQuestion& question,
                           const std::function<void(Result<>)>& answer) {
      if (!leads_) return answer(Fail(ErrorCode::kUnavailable, "nobody leads"));
      if (question.kind == FileQuestion::Kind::kKept) ++kept_;
      if (question.kind == FileQuestion::Kind::kDiscarded) {
        ++discarded_;
        if (on_discarded_) on_discarded_();
      }
      if (question.kind == FileQuestion::Kind::kWrite && question.size && ++writes_ == deny_write_)
        return answer(Fail(ErrorCode::kDenied, "no room"));
      if (question.size) asked_size_ = *question.size;
      const bool may = question.kind == FileQuestion::Kind::kRead ? may_get_ : may_put_;
      answer(may ? Result<>() : Fail(ErrorCode::kDenied, "no task"));
    };
    router_.Add(ArtifactRoutes(services_));
    handlers_.streams_body = StreamsBody;
    handlers_.on_http = [this](net::HttpRequest request,
                               std::shared_ptr<net::HttpExchange> exchange) {
      router_.Handle(std::move(request), std::move(exchange));
    };
    Start();
  }
  ~ArtifactCalls() override {
    Stop();
    workers_.Stop();
  }

  static Token Person(std::string name, Role role) {
    return {.name = name, .hash = crypto::Sha256("secret of " + name), .role = role};
  }
  static net::HttpRequest Request(std::string method, const std::string& sha256,
                                  const std::string& token, net::Headers headers = {}) {
    net::HttpRequest request{.method = std::move(method),
                             .target = "/api/v1/artifacts/" + ToHex(sha256),
                             .headers = std::move(headers)};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer secret of " + token);
    return request;
  }
  net::HttpResponse Call(net::HttpRequest request, std::string body = "") {
    request.body = std::move(body);
    if (!client_) client_.emplace(Client(true));
    auto response = client_->Call(request);
    EXPECT_TRUE(response) << response.error().message;
    return response.value_or(net::HttpResponse{});
  }
  net::HttpResponse Get(const std::string& range = "", const std::string& token = "op") {
    return Call(Request("GET", hash_, token,
                        range.empty() ? net::Headers{} : net::Headers{{"Range", range}}));
  }
  net::HttpResponse Put(std::string body, const std::string& range = "",
                        const std::string& token = "op") {
    net::Headers headers;
    if (!range.empty()) headers.emplace_back("Content-Range", range);
    return Call(Request("PUT", hash_, token, headers), std::move(body));
  }
  static std::string Header(const net::HttpResponse& response, std::string_view name) {
    return std::string(net::FindHeader(response.headers, name));
  }

  TempFolder folder_;
  StandingClock clock_;
  std::unique_ptr<FileArtifacts> store_ =
      *FileArtifacts::Open(folder_.Path(), clock_, {.keep_free = 0});
  WorkerPool workers_{2};
  FailureWatch failures_{{.per_minute = 1000}, [](const std::string&) {}};
  Refusals refusals_{failures_, clock_,
                     [](Duration, const std::function<void()>& work) { work(); }};
  Authenticator people_{"admin"};
  Router router_{people_, refusals_, workers_, clock_};
  ArtifactServices services_{
      *store_, *store_, workers_, {}, [this](const auto& token, const auto& then) {
        then(token.empty() || (!ended_ && people_.Usable(token, clock_.Read().wall)));
      }};
  std::optional<net::HttpClient> client_;  // with the certificate of a host, when a test says so
  bool may_get_ = false;
  bool may_put_ = false;
  bool leads_ = true;
  std::atomic<bool> ended_ = false;  // the tokens, once their calls were let in
  std::atomic<int> kept_ = 0;
  std::atomic<int> discarded_ = 0;
  std::atomic<int> writes_ = 0;  // questions before an upload
  int deny_write_ = 0;           // the one of them that is answered with no
  std::function<void()> on_discarded_;
  std::atomic<std::uint64_t> asked_size_ = 0;
  const std::string content_ = "some content of a file";
  const std::string hash_ = crypto::Sha256(content_);
};

TEST_F(ArtifactCalls, AFileGoesInAndComesOut) {
  EXPECT_EQ(Get().status, 404);
  EXPECT_EQ(Put(content_).status, 201);
  EXPECT_EQ(Put(content_).status, 200) << "it is there already";
  const auto whole = Get();
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, content_);
  EXPECT_EQ(Header(whole, "ETag"), "\"" + ToHex(hash_) + "\"");
  const auto part = Get("bytes=5-11");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "content");
  EXPECT_EQ(Header(part, "Content-Range"), "bytes 5-11/22");
  const auto none = Get("bytes=22-");
  EXPECT_EQ(none.status, 416);
  EXPECT_EQ(Header(none, "Content-Range"), "bytes */22");
  const auto head = Call(Request("HEAD", hash_, "op"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(Header(head, "Content-Length"), "22");
  EXPECT_EQ(head.body, "");
}

TEST_F(ArtifactCalls, ATransferEndsWithItsToken) {
  EXPECT_EQ(Put(content_).status, 201);
  ended_ = true;
  EXPECT_FALSE(Client(true).Call(Request("GET", hash_, "op"))) << "the connection breaks";
  const std::string other = crypto::Sha256("other");
  EXPECT_EQ(Call(Request("PUT", other, "op"), "other").status, 403);
  ended_ = false;
  EXPECT_EQ(Get().body, content_);
}

TEST_F(ArtifactCalls, AnUploadComesInParts) {
  const auto first = Put(content_.substr(0, 8), "bytes 0-7/22");
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(Header(first, "Muster-Upload-Offset"), "8");
  const auto head = Call(Request("HEAD", hash_, "op"));
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(Header(head, "Muster-Upload-Offset"), "8");
  const auto wrong = Put("x", "bytes 12-12/22");
  EXPECT_EQ(wrong.status, 409);
  EXPECT_EQ(Header(wrong, "Muster-Upload-Offset"), "8");
  EXPECT_EQ(Put(content_.substr(8), "bytes 8-21/22").status, 201);
  EXPECT_EQ(Get().body, content_);
}

TEST_F(ArtifactCalls, RefusesWhatIsNotWhatItSays) {
  EXPECT_EQ(Put("other content").status, 400);
  EXPECT_EQ(Get().status, 404);
  EXPECT_EQ(*store_->Uploaded(hash_, "token op"), 0U);
  EXPECT_EQ(Put("abc", "bytes 0-1/22").status, 400) << "the length does not fit";
  net::HttpRequest request = Request("PUT", "short", "op");
  EXPECT_EQ(Call(request, "x").status, 400);
  request.target = "/api/v1/artifacts/" + std::string(64, 'A');
  EXPECT_EQ(Call(request, "x").status, 400) << "one name for each content";
}

TEST_F(ArtifactCalls, KeepsTheEmptyFile) {
  const auto empty = crypto::Sha256("");
  EXPECT_EQ(Call(Request("PUT", empty, "op", {{"Content-Range", "bytes */0"}})).status, 201);
  EXPECT_EQ(Call(Request("GET", empty, "op")).body, "");
}

TEST_F(ArtifactCalls, AreForOperatorsAndHostsWithATask) {
  ASSERT_EQ(Put(content_).status, 201);
  EXPECT_EQ(Get("", "view").status, 403);
  EXPECT_EQ(Get("", "nobody").status, 401);
  EXPECT_EQ(Get("", "").status, 401);
  EXPECT_EQ(Put(content_, "", "view").status, 403);
  client_.emplace(At(true), Node(), 20s);
  EXPECT_EQ(Get("", "").status, 404);
  EXPECT_EQ(Put(content_, "", "").status, 403);
  may_put_ = true;
  EXPECT_EQ(Get("", "").status, 404) << "a host that sends files reads none";
  EXPECT_EQ(Put(content_, "", "").status, 201);
  may_get_ = true;
  EXPECT_EQ(Get("", "").body, content_);
  leads_ = false;
  EXPECT_EQ(Get("", "").status, 503) << "a host tries again";
  EXPECT_EQ(Get("", "op").status, 200);
  EXPECT_EQ(Get("", "nobody").status, 401) << "a wrong token is not made up for by a certificate";
}

TEST_F(ArtifactCalls, AHostLearnsOnlyOfFilesThatAreItsBusiness) {
  const std::string missing = crypto::Sha256("never sent");
  ASSERT_EQ(Put(content_).status, 201);
  client_.emplace(At(true), Node(), 20s);
  for (const bool may_put : {false, true}) {
    may_put_ = may_put;
    for (const char* method : {"HEAD", "GET"})
      for (const auto& hash : {hash_, missing}) {
        const auto answer = Call(Request(method, hash, ""));
        EXPECT_EQ(answer.status, 404);
        EXPECT_EQ(Header(answer, "Muster-Upload-Offset"), "0");
      }
  }
  // It goes on with its own upload of a content that is there, and sees no difference.
  EXPECT_EQ(Put(content_.substr(0, 8), "bytes 0-7/22", "").status, 202);
  EXPECT_EQ(Header(Call(Request("HEAD", hash_, "")), "Muster-Upload-Offset"), "8");
  EXPECT_EQ(Put(content_.substr(8), "bytes 8-21/22", "").status, 201);
  EXPECT_EQ(Call(Request("HEAD", hash_, "")).status, 200) << "it sent it";
  EXPECT_EQ(Put(content_, "", "").status, 200);
  EXPECT_EQ(Get("", "").status, 404);
  may_put_ = false;
  EXPECT_EQ(Call(Request("HEAD", hash_, "")).status, 404) << "no task of its is open";
}

TEST_F(ArtifactCalls, UploadersDoNotHoldEachOtherUp) {
  client_.emplace(At(true), Node(), 20s);
  may_put_ = true;
  EXPECT_EQ(Put("not that", "bytes 0-7/22", "").status, 202);
  const auto head = Call(Request("HEAD", hash_, "op"));
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(Header(head, "Muster-Upload-Offset"), "0");
  EXPECT_EQ(Put(content_).status, 201);
  EXPECT_EQ(Get().body, content_);
}

TEST_F(ArtifactCalls, AHostIsAskedForTheSizeOfTheWholeFile) {
  client_.emplace(At(true), Node(), 20s);
  may_put_ = true;
  EXPECT_EQ(Put(content_.substr(0, 8), "bytes 0-7/22", "").status, 202);
  EXPECT_EQ(asked_size_, 22U);
  EXPECT_EQ(discarded_, 0);
  EXPECT_EQ(Put("other content of a fil", "", "").status, 400);
  EXPECT_EQ(discarded_, 1) << "what is thrown away does not count for the host's task";
  EXPECT_EQ(kept_, 0);
  EXPECT_EQ(Put(content_, "", "").status, 201);
  EXPECT_EQ(kept_, 1) << "what stays counts until the task ends";
}

TEST_F(ArtifactCalls, AHostIsAskedAgainWhenNothingElseComesUnderTheHash) {
  client_.emplace(At(true), Node(), 20s);
  may_put_ = true;
  deny_write_ = 2;
  EXPECT_EQ(Put(content_, "", "").status, 403) << "its room was given back meanwhile";
  EXPECT_EQ(writes_, 2);
  EXPECT_EQ(store_->Find(hash_)->has_value(), false);
  EXPECT_EQ(Put(content_, "", "").status, 201) << "the upload was let go of";
}

TEST_F(ArtifactCalls, AWrongContentIsCountedNoMoreBeforeTheNextBegins) {
  client_.emplace(At(true), Node(), 20s);
  may_put_ = true;
  net::HttpClient other(At(true), Node(), 20s);
  int meanwhile = 0;
  on_discarded_ = [&] {
    auto request = Request("PUT", hash_, "");
    request.body = content_;
    const auto answer = other.Call(request);
    meanwhile = answer ? answer->status : 0;
  };
  EXPECT_EQ(Put("other content of a fil", "", "").status, 400);
  EXPECT_EQ(meanwhile, 409);
  EXPECT_EQ(Put(content_, "", "").status, 201);
}

TEST_F(ArtifactCalls, ManyAtOnceGetTheirOwn) {
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 991);
  const std::string hash = crypto::Sha256(large);
  std::size_t at = 0;
  const auto put = Client(true).Upload(Request("PUT", hash, "op"), large.size(),
                                       [&](char* into, std::size_t room) {
                                         const std::size_t size = large.copy(into, room, at);
                                         at += size;
                                         return Result<std::size_t>(size);
                                       });
  ASSERT_TRUE(put) << put.error().message;
  ASSERT_EQ(put->status, 201);
  std::vector<std::future<bool>> readers;
  for (std::size_t i = 0; i < 8; ++i)
    readers.push_back(std::async(std::launch::async, [&, i] {
      std::string got;
      const std::size_t from = i * 100'001;
      const auto answer =
          Client(i % 2 == 0)
              .Stream(Request("GET", hash, "op", {{"Range", fmt::format("bytes={}-", from)}}), 20s,
                      [&](std::string_view piece) {
                        got += piece;
                        return true;
                      });
      return answer && got == large.substr(from);
    }));
  for (auto& reader : readers) EXPECT_TRUE(reader.get());
}

}  // namespace
}  // namespace muster::server::api
