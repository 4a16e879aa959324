#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster::documents {

// What ExpandHostRanges would make of a text.
struct NameExtent {
  std::uint64_t names = 0;  // at least as many as it makes before it ends or fails
  std::size_t longest = 0;  // no shorter than this, in bytes

  // Names that long are no host's.
  bool TooLong() const { return longest > 253; }
};

// Costs the length of the text, whatever its ranges mean.
NameExtent MeasureHostNames(std::string_view text);

// What documents that are read together may cost beyond their length. A range of hosts is a few
// bytes and means up to 100,000 names, so names are counted before ranges are expanded; a pattern
// is a few bytes and takes milliseconds to compile; a stage that names a file is a few bytes and
// gets a copy of the file.
class ReadBudget {
 public:
  static constexpr std::uint64_t kMostOfDocument = 100'000;
  static constexpr std::uint64_t kMostTogether = 1'000'000;
  static constexpr std::size_t kMostPatterns = 2'000;  // together

  static constexpr std::size_t kMostBytesOfDocument = 16 << 20;
  static constexpr std::size_t kMostBytesTogether = 64 << 20;

  void BeginDocument() {
    of_document_ = 0;
    bytes_of_document_ = 0;
  }

  // The names a text means (see ExpandHostRanges), each a host's. kInvalid also when the document,
  // or all documents together, would mean too many; then nothing was expanded. What fails counts
  // too.
  Result<std::vector<std::string>> Expand(std::string_view text);

  // Counts the names of a target expression, whose parser has a bound of its own for each.
  Result<> CountTargets(std::string_view text);

  Result<> CountPattern();

  // Counts what a stage gets a copy of: a script, a list of files, a limit. kInvalid when the
  // document, or all documents together, would have too much of it; then it must not be copied, and
  // nothing more fits. 0 asks whether anything does.
  Result<> TakeBytes(std::size_t bytes);

  // No further name of this document fits.
  bool Spent() const { return of_document_ > kMostOfDocument || together_ > kMostTogether; }

 private:
  Result<> Take(std::uint64_t names);

  std::uint64_t of_document_ = 0;
  std::uint64_t together_ = 0;
  std::size_t patterns_ = 0;
  std::size_t bytes_of_document_ = 0;
  std::size_t bytes_together_ = 0;
};

}  // namespace muster::documents
