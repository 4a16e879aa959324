#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "cron/zone.hpp"
#include "cron/zone_rule.hpp"

namespace muster::cron {
namespace {

constexpr std::string_view kMagic = "TZif";
constexpr std::size_t kHeaderBytes = 44;
constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::int32_t kMostOffset = 26 * 3600;  // RFC 8536 has no larger in use

std::int64_t BigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// The counts of a header, in the file's order.
struct Header {
  char version = 0;
  std::uint64_t utc_flags = 0, standard_flags = 0, leaps = 0, changes = 0, kinds = 0, letters = 0;

  std::uint64_t DataBytes(std::uint64_t time_bytes) const {
    return changes * (time_bytes + 1) + kinds * 6 + letters + leaps * (time_bytes + 4) +
           standard_flags + utc_flags;
  }
};

std::optional<Header> ReadHeader(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  Header header;
  header.version = bytes[4];
  std::size_t at = 20;
  for (auto* count : {&header.utc_flags, &header.standard_flags, &header.leaps, &header.changes,
                      &header.kinds, &header.letters}) {
    *count = static_cast<std::uint64_t>(BigEndian(bytes.substr(at, 4))) & 0xffffffffU;
    at += 4;
  }
  return header;
}

struct Data {
  std::int32_t first_offset = 0;
  std::vector<ZoneChange> changes;
};

// The block behind a header of version 2 or later: times of eight bytes.
std::optional<Data> ReadData(std::string_view bytes, const Header& header) {
  if (header.kinds == 0 || header.kinds > 256 || header.DataBytes(8) > bytes.size())
    return std::nullopt;
  const auto kinds = bytes.substr(header.changes * 9);
  const auto offset_of = [&](std::size_t kind) {
    return static_cast<std::int32_t>(BigEndian(kinds.substr(kind * 6, 4)));
  };
  for (std::size_t kind = 0; kind < header.kinds; ++kind)
    if (offset_of(kind) < -kMostOffset || offset_of(kind) > kMostOffset) return std::nullopt;
  Data data;
  data.first_offset = offset_of(0);
  for (std::size_t i = 0; i < header.changes; ++i) {
    const std::int64_t at = BigEndian(bytes.substr(i * 8, 8));
    const auto kind = static_cast<unsigned char>(bytes[header.changes * 8 + i]);
    if (kind >= header.kinds || (i > 0 && at <= data.changes.back().at)) return std::nullopt;
    data.changes.push_back({at, offset_of(kind)});
  }
  return data;
}

bool IsZoneName(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
  return !name.empty() && name.size() <= 64 && name.front() != '/' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

Result<Zone> Zone::Read(std::string_view name, std::string_view bytes) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalid, "zone {}: {}", name, why);
  };
  const auto old = ReadHeader(bytes);
  if (!old) return bad("this is no time zone file (TZif)");
  if (old->version < '2') return bad("its file has no 64-bit times; install a newer tzdata");
  if (old->DataBytes(4) > bytes.size() - kHeaderBytes) return bad("its file is cut short");
  bytes.remove_prefix(kHeaderBytes + old->DataBytes(4));
  const auto header = ReadHeader(bytes);
  if (!header) return bad("its file is cut short");
  if (header->leaps != 0) return bad("it counts leap seconds; take the one without 'right/'");
  bytes.remove_prefix(kHeaderBytes);
  auto data = ReadData(bytes, *header);
  if (!data) return bad("its file is damaged");
  const auto& last = data->changes;
  if (!last.empty() && last.back().at >= kRepeatsFrom) return bad("it changes after the year 2100");
  bytes.remove_prefix(header->DataBytes(8));
  if (!bytes.starts_with('\n') || bytes.find('\n', 1) == std::string_view::npos)
    return bad("its file is cut short");
  const auto text = bytes.substr(1, bytes.find('\n', 1) - 1);
  if (!text.empty()) {
    const auto rule = ParseZoneRule(text);
    if (!rule) return bad("the rule at the end of its file cannot be read");
    AddChanges(*rule, last.empty() ? kFirstSecond : last.back().at, data->changes);
  }
  return Zone(name, data->first_offset, data->changes);
}

Result<Zone> LoadZone(std::string_view name) {
  if (name == "UTC") return Zone::Utc();
  if (!IsZoneName(name))
    return Fail(ErrorCode::kInvalid, "'{}' is no time zone; write for example Europe/Berlin", name);
  const char* folder = std::getenv("TZDIR");
  const std::string path = fmt::format(
      "{}/{}", folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo", name);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMostBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.empty())
    return Fail(ErrorCode::kNotFound,
                "there is no time zone '{}' ({}); write for example Europe/Berlin, or install "
                "tzdata",
                name, path);
  return Zone::Read(name, bytes);
}

}  // namespace muster::cron
