#pragma once

#include <string>
#include <string_view>

#include "agent/shim/line_mask.hpp"
#include "agent/shim/output_hash.hpp"

namespace muster::agent {

// SHA-256 of a stream's masked lines (line_mask.hpp), whatever pieces it comes in. A line longer
// than kMaxLine is masked in pieces of that length, so memory is bounded.
class MaskedHash {
 public:
  static constexpr std::size_t kMaxLine = 4096;

  // `mask` outlives it.
  explicit MaskedHash(const LineMask& mask) : mask_(mask) {}

  void Add(std::string_view data);
  std::string Digest() const;  // of what was added so far, 32 bytes

 private:
  void AddLine(std::string_view line);

  const LineMask& mask_;
  OutputHash hash_;
  std::string begun_;   // a line whose end has not come
  std::string masked_;  // not hashed yet
};

// The masked digest of an output (LogTotals::masked_sha256): of both streams' hashes.
std::string JoinMasked(const MaskedHash& out, const MaskedHash& err);

}  // namespace muster::agent
