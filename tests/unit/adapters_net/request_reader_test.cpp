#include "adapters/net/request_reader.hpp"

#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::net {
namespace {

RequestReader::State Feed(RequestReader& reader, beast::flat_buffer& in, std::string_view text) {
  std::memcpy(in.prepare(text.size()).data(), text.data(), text.size());
  in.commit(text.size());
  return reader.Feed(in);
}

// Feeds `text` in pieces that end where `cut` says, then byte by byte.
RequestReader::State FeedInPieces(RequestReader& reader, std::string_view text, std::size_t cut) {
  beast::flat_buffer in;
  auto state = RequestReader::State::kHead;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = at < cut ? cut - at : 1;
    state = Feed(reader, in, text.substr(at, size));
    at += size;
    if (state == RequestReader::State::kDone || state == RequestReader::State::kRefused) break;
  }
  return state;
}

TEST(RequestReader, TakesAChunkedBodyHoweverItArrives) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  const ServerLimits limits;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    RequestReader reader(limits);
    ASSERT_EQ(FeedInPieces(reader, text, cut), RequestReader::State::kDone) << cut;
    EXPECT_EQ(PlainRequest(reader.Release()).body, "hello") << cut;
  }
}

TEST(RequestReader, RefusesALongHeaderAlsoLineByLine) {
  const ServerLimits limits{.max_header = 1000, .max_header_fields = 1'000'000};
  for (std::string_view line : {"A: b\r\n", "A: b\r\nC: d\r\nE: "}) {
    RequestReader reader(limits);
    beast::flat_buffer in;
    auto state = Feed(reader, in, "GET / HTTP/1.1\r\nHost: h\r\n");
    std::size_t fed = 0;
    for (; state == RequestReader::State::kHead && fed < 100'000; fed += line.size()) {
      state = Feed(reader, in, line);
    }
    EXPECT_EQ(state, RequestReader::State::kRefused);
    EXPECT_EQ(reader.status(), 431);
    EXPECT_LT(fed, 1100U);
  }
}

TEST(RequestReader, WhatFollowsABodyIsNoPartOfTheHead) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nHost: h\r\nA: b\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n0\r\nA: c\r\n"
      "Authorization: Bearer x\r\n\r\n";
  const ServerLimits limits{.max_header_fields = 3};
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    RequestReader reader(limits);
    ASSERT_EQ(FeedInPieces(reader, text, cut), RequestReader::State::kDone) << cut;
    const HttpRequest request = PlainRequest(reader.Release());
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/");
    EXPECT_EQ(request.headers,
              (Headers{{"Host", "h"}, {"A", "b"}, {"Transfer-Encoding", "chunked"}}));
    EXPECT_EQ(request.body, "hello");
  }
}

TEST(RequestReader, RefusesChunksWithoutAnEnd) {
  const ServerLimits limits{.max_header = 1000};
  for (const std::string_view begin :
       {"0;", "5;", "0\r\nA: ", "0\r\nA: b\r\n", "5\r\nhello\r\n0\r\nA:"}) {
    RequestReader reader(limits);
    beast::flat_buffer in;
    auto state =
        Feed(reader, in, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    state = Feed(reader, in, begin);
    std::size_t fed = 0;
    for (; state == RequestReader::State::kBody && fed < 100'000; ++fed)
      state = Feed(reader, in, begin.ends_with('\n') ? "A: b\r\n" : "a");
    EXPECT_EQ(state, RequestReader::State::kRefused) << begin;
    EXPECT_EQ(reader.status(), 431) << begin;
    EXPECT_LT(fed, 1100U) << begin;
  }
}

TEST(RequestReader, TakesABodyOfManySmallChunks) {
  const ServerLimits limits{.max_header = 1000, .max_body = 10'000};
  RequestReader reader(limits);
  beast::flat_buffer in;
  auto state = Feed(reader, in, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string chunks;
  for (int i = 0; i < 10'000; ++i) chunks += "1\r\nx\r\n";
  state = Feed(reader, in, chunks + "0\r\n\r\n");
  EXPECT_EQ(state, RequestReader::State::kDone);
  EXPECT_EQ(reader.Release().body().size(), 10'000U);
}

TEST(RequestReader, RefusesEncodingsItDoesNotKnow) {
  const ServerLimits limits;
  for (const std::string_view field :
       {"xchunked", "chunked, gzip", "gzip, chunked", "chunked, chunked", "identity", "gzip",
        "chunked;a=b", "chunked\r\nTransfer-Encoding: chunked", "", "\"chunked\""}) {
    RequestReader reader(limits);
    beast::flat_buffer in;
    const std::string text =
        fmt::format("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {}\r\n\r\n", field);
    EXPECT_EQ(Feed(reader, in, text + "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n"),
              RequestReader::State::kRefused)
        << field;
    EXPECT_EQ(reader.status(), 400) << field;
  }
  RequestReader reader(limits);
  beast::flat_buffer in;
  EXPECT_EQ(Feed(reader, in, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            RequestReader::State::kRefused);
}

TEST(RequestReader, ARequestNamesTheServerOnce) {
  const ServerLimits limits;
  const auto status = [&](std::string_view text) {
    RequestReader reader(limits);
    beast::flat_buffer in;
    return Feed(reader, in, text) == RequestReader::State::kDone ? 200 : reader.status();
  };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), 200);
}

TEST(RequestReader, LeavesTheNextRequestInTheBuffer) {
  const ServerLimits limits;
  RequestReader reader(limits);
  beast::flat_buffer in;
  ASSERT_EQ(Feed(reader, in, "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nokGET /2"),
            RequestReader::State::kDone);
  EXPECT_EQ(in.size(), 6U);
}

}  // namespace
}  // namespace muster::net
