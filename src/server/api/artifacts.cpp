#include "server/api/artifacts.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "server/api/byte_range.hpp"

namespace muster::server::api {
namespace {

constexpr std::string_view kPrefix = "/api/v1/artifacts/";
constexpr std::size_t kPiece = 512 << 10;  // read at once, while as much is still unsent
constexpr const char* kOffset = "Muster-Upload-Offset";
// An upload has a minute, and a second more for each so many bytes. Clients that keep to a rate of
// their own send at least four times as much.
constexpr std::chrono::minutes kSlowStart(1);
constexpr std::uint64_t kLeastUploadRate = 4 << 10;

Result<std::string> HashOf(const Call& call) {
  auto sha256 = FromHex(call.Part("sha256"));
  if (sha256 && sha256->size() == 32 && ToHex(*sha256) == call.Part("sha256"))
    return std::move(*sha256);
  return Fail(ErrorCode::kInvalid,
              "an artifact is named by the SHA-256 of its content: 64 digits of 0-9a-f");
}

// A host shows its certificate instead of a token, and so does a server.
bool IsHost(const Call& call) {
  return call.actor().name.empty() && call.request().peer_server.empty();
}

FileQuestion About(const Call& call, FileQuestion::Kind kind, const std::string& sha256) {
  return {.kind = kind, .key = call.request().peer_key, .sha256 = sha256};
}

// Goes on, on a worker's thread, with whether a host may. Operators and servers may, and are not
// asked about.
void AskFirst(ArtifactServices& services, const CallPtr& call, const FileQuestion& question,
              std::function<void(const Result<>& may)> next) {
  if (!IsHost(*call)) return next({});
  services.ask(question, [&services, call, next = std::move(next)](const Result<>& may) {
    if (!may && may.error().code != ErrorCode::kDenied) return call->Fail(may.error());
    if (!services.workers.Post([next, may] { next(may); }, "artifact"))
      call->Fail(503, "unavailable", "the server is too busy; try again shortly");
  });
}

// A host gets the same answer for what is there and is not its business.
void NotThere(ArtifactServices& services, Call& call, const std::string& sha256) {
  const auto uploaded = services.For(call).Uploaded(sha256, NameOfCaller(call));
  if (!uploaded) return call.Fail(uploaded.error());
  call.Fail(404, "not_found",
            fmt::format("there is no artifact {}{}", ToHex(sha256),
                        IsHost(call) ? ", or no open task of this host names it" : ""),
            {{kOffset, std::to_string(*uploaded)}});
}

net::Headers HeadersOf(const std::string& sha256) {
  return {{"Content-Type", "application/octet-stream"},
          {"Accept-Ranges", "bytes"},
          {"ETag", fmt::format("\"{}\"", ToHex(sha256))},
          {"Cache-Control", "private, immutable"}};
}

// Sends a part of a file, a piece whenever the client has taken the one before.
class Download : public std::enable_shared_from_this<Download> {
 public:
  Download(ArtifactServices& services, const Call& call, std::unique_ptr<ArtifactReader> reader,
           ByteRange range)
      : services_(services),
        exchange_(call.exchange()),
        token_(call.actor().name),
        reader_(std::move(reader)),
        range_(range) {}

  // When a piece cannot be read, no worker is free for it, or the token has ended, the exchange
  // goes without its end: the connection breaks, and the client asks for the rest.
  void Go() {
    exchange_->OnRoom(kPiece, [self = shared_from_this()] {
      self->services_.look_again(self->token_, [self](bool usable) {
        if (usable) self->services_.workers.Post([self] { self->Give(); }, "GET artifact");
      });
    });
  }

 private:
  void Give() {
    auto piece =
        reader_->Read(range_.begin, std::min<std::uint64_t>(kPiece, range_.end - range_.begin));
    if (!piece || exchange_->Gone()) return;
    range_.begin += piece->size();
    exchange_->Write(std::move(*piece));
    if (range_.begin == range_.end) return exchange_->End();
    Go();
  }

  ArtifactServices& services_;
  const std::shared_ptr<net::HttpExchange> exchange_;
  const std::string token_;
  const std::unique_ptr<ArtifactReader> reader_;
  ByteRange range_;
};

void Send(ArtifactServices& services, const CallPtr& call, const std::string& sha256) {
  auto reader = services.For(*call).Open(sha256);
  if (!reader && reader.error().code == ErrorCode::kNotFound)
    return NotThere(services, *call, sha256);
  if (!reader) return call->Fail(reader.error());
  const std::uint64_t size = (*reader)->Size();
  const auto asked = ReadRange(net::FindHeader(call->request().headers, "Range"), size);
  if (asked.kind == RangeAnswer::Kind::kNone)
    return call->Fail(416, "invalid", fmt::format("the file has {} bytes", size),
                      {{"Content-Range", fmt::format("bytes */{}", size)}});
  net::Headers headers = HeadersOf(sha256);
  const auto [begin, end] = asked.range;
  const bool empty = call->request().method == "HEAD" || begin == end;
  if (!empty && !services.transfers.Take(call)) return;
  const bool part = asked.kind == RangeAnswer::Kind::kPart;
  if (part)
    headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", begin, end - 1, size));
  call->exchange()->BeginSized(part ? 206 : 200, std::move(headers), end - begin);
  if (empty) return call->exchange()->End();
  std::make_shared<Download>(services, *call, std::move(*reader), asked.range)->Go();
}

// For a host that no task lets read the file: before it sends one it asks whether it has to. What
// it sent itself it may know of; another host's, of the same content, it sends too.
void TellSender(ArtifactServices& services, const CallPtr& call, const std::string& sha256) {
  if (call->request().method != "HEAD") return NotThere(services, *call, sha256);
  AskFirst(services, call, About(*call, FileQuestion::Kind::kWrite, sha256),
           [&services, call, sha256](const Result<>& may) {
             if (may && services.sent.Has(NameOfCaller(*call), sha256))
               return Send(services, call, sha256);
             NotThere(services, *call, sha256);
           });
}

void Get(ArtifactServices& services, const CallPtr& call) {
  const auto sha256 = HashOf(*call);
  if (!sha256) return call->Fail(sha256.error());
  AskFirst(services, call, About(*call, FileQuestion::Kind::kRead, *sha256),
           [&services, call, sha256 = *sha256](const Result<>& may) {
             if (may) return Send(services, call, sha256);
             TellSender(services, call, sha256);
           });
}

// 200: it was there already; 201: it is whole now; 202: more is to come, from `offset` on.
void Kept(Call& call, int status, const std::string& sha256, std::uint64_t offset,
          std::uint64_t size) {
  call.Json(status, {{"sha256", ToHex(sha256)}, {"offset", offset}, {"size", size}},
            {{kOffset, std::to_string(offset)}});
}

// Takes the body of an upload, piece by piece. When the client goes, what came stays.
class Upload : public std::enable_shared_from_this<Upload> {
 public:
  Upload(ArtifactServices& services, CallPtr call, std::string sha256, std::uint64_t size,
         std::unique_ptr<ArtifactUpload> upload)
      : services_(services),
        call_(std::move(call)),
        sha256_(std::move(sha256)),
        size_(size),
        upload_(std::move(upload)),
        begun_at_(upload_->Offset()) {}

  // Asks once more for a host, as from now on nothing else comes under the hash: what was counted
  // when it was asked first may have been given back since.
  void Begin() {
    if (!IsHost(*call_)) return Go();
    FileQuestion question = About(*call_, FileQuestion::Kind::kWrite, sha256_);
    question.size = size_;
    services_.ask(question, [self = shared_from_this()](const Result<>& may) {
      if (!may) return self->Failed(may.error());
      self->Go();
    });
  }

 private:
  void Go() {
    if (TooSlow())
      return Failed({ErrorCode::kTimeout, "the upload comes too slowly; go on with it later"});
    call_->exchange()->ReadBody([self = shared_from_this()](net::BodyPiece piece) {
      self->services_.look_again(self->call_->actor().name,
                                 [self, piece = std::move(piece)](bool usable) mutable {
                                   self->Post(std::move(piece), usable);
                                 });
    });
  }

  void Post(net::BodyPiece piece, bool usable) {
    auto work = [self = shared_from_this(), piece = std::move(piece), usable] {
      if (usable) return self->Take(piece);
      self->Failed({ErrorCode::kDenied, "the token has ended; ask an admin for a new one"});
    };
    if (!services_.workers.Post(std::move(work), "PUT artifact"))
      call_->Fail(503, "unavailable", "the server is too busy; try again shortly");
  }

  void Take(const net::BodyPiece& piece) {
    if (auto added = upload_->Append(piece.data); !added) return Failed(added.error());
    if (!piece.last) return Go();
    const std::uint64_t offset = upload_->Offset();
    const bool whole = offset == size_;
    if (whole)
      if (auto finished = upload_->Finish(); !finished) {
        if (IsHost(*call_) && finished.error().code == ErrorCode::kInvalid)
          return Discarded(finished.error());
        return Failed(finished.error());
      }
    if (whole && IsHost(*call_)) return Tell();
    upload_.reset();
    Kept(*call_, whole ? 201 : 202, sha256_, offset, size_);
  }

  // It was another content than was said. As Tell, it is counted no more before it is let go of.
  void Discarded(const Error& error) {
    services_.ask(About(*call_, FileQuestion::Kind::kDiscarded, sha256_),
                  [self = shared_from_this(), error](const Result<>&) { self->Failed(error); });
  }

  // Before the upload is let go of: until then nothing else comes under its hash. A host without an
  // open task, kDenied, has ended it meanwhile.
  void Tell() {
    services_.ask(About(*call_, FileQuestion::Kind::kKept, sha256_),
                  [self = shared_from_this()](const Result<>& told) {
                    if (!told && told.error().code != ErrorCode::kDenied)
                      return self->Failed(told.error());
                    self->upload_.reset();
                    self->services_.sent.Add(NameOfCaller(*self->call_), self->sha256_);
                    Kept(*self->call_, 201, self->sha256_, self->size_, self->size_);
                  });
  }

  // While it lasts it takes memory, and its caller cannot begin it again.
  bool TooSlow() const {
    const auto allowed =
        kSlowStart + std::chrono::seconds((upload_->Offset() - begun_at_) / kLeastUploadRate);
    return std::chrono::steady_clock::now() - begun_ > allowed;
  }

  // Let go of first: whoever hears the answer may try again at once.
  void Failed(const Error& error) {
    upload_.reset();
    call_->Fail(error);
  }

  ArtifactServices& services_;
  const CallPtr call_;
  const std::string sha256_;
  const std::uint64_t size_;
  std::unique_ptr<ArtifactUpload> upload_;
  const std::uint64_t begun_at_;  // where the upload went on
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

Result<UploadRange> RangeOf(const Call& call) {
  const auto& headers = call.request().headers;
  const auto text = net::FindHeader(headers, "Content-Length");
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  const auto header = net::FindHeader(headers, "Content-Range");
  if (header.empty()) return UploadRange{{0, length}, length};
  const auto range = ReadUploadRange(header);
  if (range && range->range.end - range->range.begin == length) return *range;
  return Fail(ErrorCode::kInvalid,
              "Content-Range: expected 'bytes FIRST-LAST/SIZE' that fits Content-Length");
}

void Receive(ArtifactServices& services, const CallPtr& call, const std::string& sha256,
             const UploadRange& range) {
  const std::string caller = NameOfCaller(*call);
  // A host proves by sending it that it has the content: else it would learn that another has it.
  if (!IsHost(*call) || services.sent.Has(caller, sha256)) {
    const auto there = services.For(*call).Find(sha256);
    if (!there) return call->Fail(there.error());
    if (*there) return Kept(*call, 200, sha256, (*there)->size, (*there)->size);
  }
  if (!services.transfers.Take(call)) return;
  auto upload = services.For(*call).Begin(sha256, caller, range.size, range.range.begin);
  if (!upload && upload.error().code == ErrorCode::kConflict) {
    const auto uploaded = services.For(*call).Uploaded(sha256, caller);
    return call->Fail(409, "conflict", upload.error().message,
                      {{kOffset, std::to_string(uploaded.value_or(0))}, {"Retry-After", "1"}});
  }
  if (!upload) return call->Fail(upload.error());
  std::make_shared<Upload>(services, call, sha256, range.size, std::move(*upload))->Begin();
}

void Put(ArtifactServices& services, const CallPtr& call) {
  const auto sha256 = HashOf(*call);
  if (!sha256) return call->Fail(sha256.error());
  const auto range = RangeOf(*call);
  if (!range) return call->Fail(range.error());
  FileQuestion question = About(*call, FileQuestion::Kind::kWrite, *sha256);
  question.size = range->size;
  AskFirst(services, call, question,
           [&services, call, sha256 = *sha256, range = *range](const Result<>& may) {
             if (!may) return call->Fail(may.error());
             Receive(services, call, sha256, range);
           });
}

}  // namespace

std::vector<Route> ArtifactRoutes(ArtifactServices& services) {
  return {
      {"GET", "/api/v1/artifacts/{sha256}", Privilege::kTransfer,
       [&services](const CallPtr& call) { Get(services, call); }},
      {"HEAD", "/api/v1/artifacts/{sha256}", Privilege::kTransfer,
       [&services](const CallPtr& call) { Get(services, call); }},
      {"PUT", "/api/v1/artifacts/{sha256}", Privilege::kTransfer,
       [&services](const CallPtr& call) { Put(services, call); }},
  };
}

bool StreamsBody(std::string_view method, std::string_view target) {
  return method == "PUT" && target.starts_with(kPrefix);
}

}  // namespace muster::server::api
