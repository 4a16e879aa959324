#include "adapters/net/request_reader.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace muster::net {
namespace {

// Feeds `text` in pieces that end where `cut` says, then byte by byte.
RequestReader::State FeedInPieces(RequestReader& reader, std::string_view text, std::size_t cut) {
  beast::flat_buffer in;
  auto state = RequestReader::State::kHead;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = at < cut ? cut - at : 1;
    std::memcpy(in.prepare(size).data(), text.data() + at, size);
    in.commit(size);
    at += size;
    state = reader.Feed(in);
    if (state == RequestReader::State::kDone || state == RequestReader::State::kRefused) break;
  }
  return state;
}

TEST(RequestReader, TakesAChunkedBodyHoweverItArrives) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  const ServerLimits limits;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    RequestReader reader(limits);
    ASSERT_EQ(FeedInPieces(reader, text, cut), RequestReader::State::kDone) << cut;
    EXPECT_EQ(PlainRequest(reader.Release()).body, "hello") << cut;
  }
}

TEST(RequestReader, LeavesTheNextRequestInTheBuffer) {
  const ServerLimits limits;
  RequestReader reader(limits);
  beast::flat_buffer in;
  const std::string_view text = "POST /1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nokGET /2";
  std::memcpy(in.prepare(text.size()).data(), text.data(), text.size());
  in.commit(text.size());
  ASSERT_EQ(reader.Feed(in), RequestReader::State::kDone);
  EXPECT_EQ(in.size(), 6U);
}

}  // namespace
}  // namespace muster::net
