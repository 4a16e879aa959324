#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/shim/spool.hpp"
#include "base/result.hpp"
#include "domain/log.hpp"

namespace muster::agent {

// Reads a spool while its shim writes it. It holds no descriptor between calls, as an agent may
// hold thousands of ended tasks, but remembers places: Advance costs what is new, and a Read that
// goes on where the last one ended does not search.
class SpoolReader {
 public:
  explicit SpoolReader(std::string path) : path_(std::move(path)) {}

  // Bytes of output in whole records. A missing file is an empty one.
  std::uint64_t Advance();

  // Bytes of file up to the end of the last whole record that Advance saw.
  std::uint64_t FileBytes() const noexcept { return end_.file; }

  // Output that overlaps [from, from + limit), cut to it; `task` of the chunks is left empty.
  Result<std::vector<LogChunk>> Read(std::uint64_t from, std::size_t limit);

  // Reads it all: sizes and hashes of what is there. Says nothing of what was dropped.
  Result<LogTotals> Measure();

 private:
  struct Place {
    std::uint64_t file = 0;    // where a record begins in the file
    std::uint64_t output = 0;  // and which byte of the output is its first
  };

  std::string path_;
  Place end_;   // behind the last whole record known
  Place last_;  // the record in which the last Read ended
};

}  // namespace muster::agent
