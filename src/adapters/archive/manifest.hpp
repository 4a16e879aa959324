#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::archive {

constexpr std::string_view kManifestName = "MANIFEST";
constexpr int kFormatVersion = 1;

struct Part {
  std::string sha256;  // hex
  std::uint64_t size = 0;
  unsigned mode = 0600;

  friend bool operator==(const Part&, const Part&) = default;
};

// What an archive says of itself, as its last entry: lines of words, so that `tar` and eyes will
// do.
//
//   muster-backup 1
//   taken 2026-11-15T10:43:19.123Z
//   file 8f0e… 40960 600 muster.db
struct Manifest {
  int version = kFormatVersion;
  std::map<std::string, std::string> facts;  // "taken", "musterd", …: one word each
  std::map<std::string, Part> parts;         // by name, with '/' for folders
};

std::string FormatManifest(const Manifest& manifest);
// kInvalid: not a manifest, or of a newer format.
Result<Manifest> ParseManifest(std::string_view text);

// Whether a name from an archive stays inside the folder it is unpacked into.
bool IsSafeName(std::string_view name) noexcept;

}  // namespace muster::archive
