#include "agent/shim/spool.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kTag = "SP1";
constexpr std::int64_t kLastMs = 253'402'300'799'999;  // the end of the year 9999, as on the link

void PutNumber(char* to, std::uint64_t number, int bytes) noexcept {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<char>(number >> (8 * i) & 0xFF);
}

std::uint64_t GetNumber(std::string_view from) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = from.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(from[i]);
  return number;
}

}  // namespace

std::array<char, kSpoolHeaderBytes> EncodeSpoolHeader(const SpoolHeader& header) noexcept {
  std::array<char, kSpoolHeaderBytes> bytes{};
  PutNumber(&bytes[0], header.size, 4);
  bytes[4] = static_cast<char>(header.stream);
  kTag.copy(&bytes[5], kTag.size());
  PutNumber(&bytes[8], static_cast<std::uint64_t>(header.time.ms), 8);
  return bytes;
}

std::optional<SpoolHeader> DecodeSpoolHeader(std::string_view bytes) noexcept {
  if (bytes.size() < kSpoolHeaderBytes || bytes.substr(5, kTag.size()) != kTag) return {};
  const std::uint64_t size = GetNumber(bytes.substr(0, 4));
  const auto stream = static_cast<Stream>(bytes[4]);
  if (size == 0 || size > kMaxSpoolData) return {};
  if (stream != Stream::kStdout && stream != Stream::kStderr) return {};
  const auto time = static_cast<std::int64_t>(GetNumber(bytes.substr(8, 8)));
  // A damaged record that the link would not take must not be sent for ever.
  if (time < -kLastMs || time > kLastMs) return {};
  return SpoolHeader{.size = static_cast<std::uint32_t>(size), .stream = stream, .time = {time}};
}

ParsedSpool ParseSpool(std::string_view bytes) {
  ParsedSpool parsed;
  for (;;) {
    const auto rest = bytes.substr(parsed.whole_bytes);
    const auto header = DecodeSpoolHeader(rest);
    if (!header || rest.size() - kSpoolHeaderBytes < header->size) return parsed;
    parsed.records.push_back({*header, rest.substr(kSpoolHeaderBytes, header->size)});
    parsed.whole_bytes += kSpoolHeaderBytes + header->size;
  }
}

}  // namespace muster::agent
