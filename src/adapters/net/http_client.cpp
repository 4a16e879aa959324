#include <algorithm>
#include <chrono>
#include <optional>

#include "adapters/net/asio.hpp"
#include "adapters/net/blocking_stream.hpp"
#include "adapters/net/chunk_guard.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/endpoint.hpp"
#include "adapters/net/http_text.hpp"
#include "adapters/net/piece_body.hpp"

namespace muster::net {
namespace {

namespace http = beast::http;
using Parser = http::response_parser<PieceBody>;
using OnData = std::function<bool(std::string_view)>;

constexpr std::size_t kAnswerReadSize = 64 * 1024;
constexpr std::size_t kUploadPiece = 256 * 1024;
constexpr std::uint32_t kMaxHeader = 64 * 1024;
constexpr std::uint64_t kMaxBody = 64 << 20;
constexpr std::uint64_t kLeastRate = 64 << 10;  // bytes a second
constexpr std::size_t kMaxRefusal = 1 << 20;    // of documents the server names each mistake
constexpr int kMaxInterim = 8;

bool MayRepeat(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

bool IsHandedOver(const Parser& parser, const OnData* on_data) {
  return on_data != nullptr && parser.is_header_done() &&
         (parser.get().result() == http::status::ok ||
          parser.get().result() == http::status::partial_content);
}

// A body that is kept and not what was asked for: an error, or anything but a stream's own.
bool IsTooLong(const Parser& parser, const OnData* on_data) {
  const bool asked_for = on_data == nullptr && parser.get().result_int() / 100 == 2;
  return !asked_for && parser.get().body().size() > kMaxRefusal;
}

HttpResponse Plain(http::response<PieceBody> message) {
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message)
    response.headers.emplace_back(field.name_string(), field.value());
  response.body = std::move(message.body());
  return response;
}

}  // namespace

struct HttpClient::Impl {
  Endpoint endpoint;
  TlsIdentity identity;
  Duration timeout;
  Duration connect;
  std::shared_ptr<ClientContext> context;
  AbortSignal abort;
  std::optional<BlockingStream> stream;
  beast::flat_buffer in;
  std::string root_pem;
  std::chrono::steady_clock::time_point waits_since;  // for the present answer
  std::uint64_t got_bytes = 0;                        // bytes of it
  bool heard = false;                                 // a byte of it came
  bool stopped = false;                               // on_data wanted no more

  Result<HttpResponse> Call(const HttpRequest& request, Duration silence, const OnData* on_data);
  Result<HttpResponse> Once(const HttpRequest& request, Duration silence, const OnData* on_data);
  Result<HttpResponse> Upload(const HttpRequest& request, std::uint64_t length,
                              const Source& source);
  Result<> Send(const HttpRequest& request, std::uint64_t length, const Source& source,
                Result<>& source_ok);
  Result<> Connect();
  Result<HttpResponse> Receive(const HttpRequest& request, Duration silence, const OnData* on_data);
  Result<> ReceiveMessage(Parser& parser, Duration silence, const OnData* on_data);
  Result<> Fill(Parser& parser, Duration silence, bool streaming);
  Result<std::size_t> Read(char* data, std::size_t size, Duration silence, bool streaming);
  Error Explain(Error error) const;
};

Result<> HttpClient::Impl::Connect() {
  in.clear();
  if (endpoint.tls && !context) {
    auto made = ClientContext::Make(identity.ca_pem, identity.ca_fingerprint);
    if (!made) return Fail(made.error());
    context = std::move(*made);
  }
  auto opened = BlockingStream::Open(endpoint, context.get(), identity, connect, abort);
  if (!opened) return Fail(opened.error());
  stream = std::move(*opened);
  if (stream->ssl() != nullptr) root_pem = PeerRootOf(stream->ssl());
  return {};
}

// A part of an answer that is `streaming` is only bounded by silence.
Result<std::size_t> HttpClient::Impl::Read(char* data, std::size_t size, Duration silence,
                                           bool streaming) {
  if (streaming) return stream->Read(data, size, silence);
  const auto most = 2 * timeout + std::chrono::seconds(got_bytes / kLeastRate);
  const auto left = [&] {
    return std::chrono::ceil<Duration>(waits_since + most - std::chrono::steady_clock::now());
  };
  const auto slow = [&] {
    return Fail(ErrorCode::kTimeout, "the answer came too slowly: {} bytes in {} s", got_bytes,
                std::chrono::ceil<std::chrono::seconds>(most).count());
  };
  if (left() <= Duration::zero()) return slow();
  auto got = stream->Read(data, size, std::min(silence, left()));
  if (!got && left() <= Duration::zero()) return slow();
  if (got) got_bytes += *got;
  return got;
}

// One more read, also the one that finds the end.
Result<> HttpClient::Impl::Fill(Parser& parser, Duration silence, bool streaming) {
  auto space = in.prepare(kAnswerReadSize);
  auto got = Read(static_cast<char*>(space.data()), space.size(), silence, streaming);
  if (!got) return Fail(got.error());
  if (*got > 0) {
    heard = true;
    in.commit(*got);
    return {};
  }
  error_code error;
  if (parser.got_some()) parser.put_eof(error);
  if (error || !parser.is_done()) {
    return Fail(ErrorCode::kTimeout,
                "the server closed the connection before the answer was whole");
  }
  return {};
}

Result<> HttpClient::Impl::ReceiveMessage(Parser& parser, Duration silence, const OnData* on_data) {
  while (!parser.is_done()) {
    error_code error;
    if (MayPut(parser, in.size())) in.consume(parser.put(in.data(), error));
    if (error && error != http::error::need_more) {
      return Fail(ErrorCode::kTimeout, "the answer is not HTTP: {}", error.message());
    }
    const bool streaming = IsHandedOver(parser, on_data);
    if (!streaming && IsTooLong(parser, on_data))
      return Fail(ErrorCode::kTimeout, "the answer, of status {}, is too long",
                  parser.get().result_int());
    if (streaming && !parser.get().body().empty()) {
      std::string piece = std::exchange(parser.get().body(), {});
      if (!(*on_data)(piece)) {
        stopped = true;
        return {};
      }
    }
    if (parser.is_done() || (!error && MayPut(parser, in.size()))) continue;
    // Of a body in chunks the parser leaves what has no end yet.
    if (parser.is_header_done() && in.size() > kMaxHeader)
      return Fail(ErrorCode::kTimeout, "the answer is not HTTP: a chunk without an end");
    if (auto filled = Fill(parser, silence, streaming); !filled) return filled;
  }
  return {};
}

Result<HttpResponse> HttpClient::Impl::Receive(const HttpRequest& request, Duration silence,
                                               const OnData* on_data) {
  waits_since = std::chrono::steady_clock::now();
  got_bytes = 0;
  for (int interim = 0;; ++interim) {
    if (interim > kMaxInterim)
      return Fail(ErrorCode::kTimeout, "the server sends interim answers without end");
    Parser parser;
    parser.eager(true);
    parser.header_limit(kMaxHeader);
    parser.body_limit(kMaxBody);
    if (on_data != nullptr) parser.body_limit(boost::none);
    if (request.method == "HEAD") parser.skip(true);
    if (auto received = ReceiveMessage(parser, silence, on_data); !received) {
      return Fail(received.error());
    }
    if (parser.get().result_int() / 100 == 1) continue;  // an interim answer
    if (stopped || !parser.keep_alive()) stream.reset();
    return Plain(parser.release());
  }
}

Result<HttpResponse> HttpClient::Impl::Once(const HttpRequest& request, Duration silence,
                                            const OnData* on_data) {
  heard = false;
  stopped = false;
  if (!stream) {
    if (auto connected = Connect(); !connected) return Fail(connected.error());
  }
  auto written = stream->Write(RequestText(request, AuthorityOf(endpoint)), timeout);
  // A server that refuses early answers before it has read everything, so the answer is looked for
  // even then.
  auto response = Receive(request, silence, on_data);
  if (response) {
    if (!written) stream.reset();
    return response;
  }
  stream.reset();
  return Fail(Explain(!written && !heard ? written.error() : response.error()));
}

// Fails when the connection does; a failure of the source is told in `source_ok`.
Result<> HttpClient::Impl::Send(const HttpRequest& request, std::uint64_t length,
                                const Source& source, Result<>& source_ok) {
  if (auto head = stream->Write(RequestText(request, AuthorityOf(endpoint), length), timeout);
      !head) {
    return head;
  }
  const auto piece = std::make_unique_for_overwrite<char[]>(kUploadPiece);
  // An answer that comes before the end is a refusal: nobody takes the rest.
  while (length > 0 && stream->Quiet()) {
    auto got = source(piece.get(), std::min<std::uint64_t>(length, kUploadPiece));
    if (got && *got == 0) got = Fail(ErrorCode::kInvalid, "there was less to send than promised");
    if (!got) {
      source_ok = Fail(got.error());
      return {};
    }
    if (auto sent = stream->Write({piece.get(), *got}, timeout); !sent) return sent;
    length -= *got;
  }
  return {};
}

Result<HttpResponse> HttpClient::Impl::Upload(const HttpRequest& request, std::uint64_t length,
                                              const Source& source) {
  if (stream && !stream->Quiet()) stream.reset();
  heard = false;
  stopped = false;
  if (!stream) {
    if (auto connected = Connect(); !connected) return Fail(connected.error());
  }
  Result<> source_ok;
  auto sent = Send(request, length, source, source_ok);
  if (!source_ok) {
    stream.reset();
    return Fail(source_ok.error());
  }
  auto response = Receive(request, timeout, nullptr);
  // After a refusal half a body may be on its way, so the connection is of no more use.
  if (!response || !sent || response->status >= 300) stream.reset();
  if (response) return response;
  return Fail(Explain(!sent && !heard ? sent.error() : response.error()));
}

Error HttpClient::Impl::Explain(Error error) const {
  error.message = fmt::format("{}: {}", UrlOf(endpoint), error.message);
  return error;
}

Result<HttpResponse> HttpClient::Impl::Call(const HttpRequest& request, Duration silence,
                                            const OnData* on_data) {
  if (stream && !stream->Quiet()) stream.reset();  // the server closed it meanwhile
  bool reused = stream.has_value();
  auto response = Once(request, silence, on_data);
  // It may have closed just now; that is no answer, and a second try is harmless for these.
  if (!response && reused && !heard && MayRepeat(request.method)) {
    return Once(request, silence, on_data);
  }
  return response;
}

HttpClient::HttpClient(Endpoint endpoint, TlsIdentity identity, Duration timeout, Duration connect)
    : impl_(std::make_unique<Impl>()) {
  impl_->endpoint = std::move(endpoint);
  impl_->identity = std::move(identity);
  impl_->timeout = timeout;
  impl_->connect = connect > Duration::zero() ? connect : timeout;
}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpResponse> HttpClient::Call(const HttpRequest& request) {
  return impl_->Call(request, impl_->timeout, nullptr);
}

Result<HttpResponse> HttpClient::Call(const HttpRequest& request, Duration silence) {
  return impl_->Call(request, silence, nullptr);
}

Result<HttpResponse> HttpClient::Stream(const HttpRequest& request, Duration idle,
                                        const std::function<bool(std::string_view)>& on_data) {
  return impl_->Call(request, idle, &on_data);
}

Result<HttpResponse> HttpClient::Upload(const HttpRequest& request, std::uint64_t length,
                                        const Source& source) {
  return impl_->Upload(request, length, source);
}

void HttpClient::Abort() { impl_->abort.Raise(); }

const std::string& HttpClient::PeerRootPem() const { return impl_->root_pem; }

}  // namespace muster::net
