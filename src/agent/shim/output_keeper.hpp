#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/files.hpp"
#include "agent/shim/line_mask.hpp"
#include "agent/shim/masked_hash.hpp"
#include "agent/shim/masker.hpp"
#include "agent/shim/output_hash.hpp"
#include "domain/log.hpp"

namespace muster::agent {

struct OutputLimits {
  std::uint64_t max_output = 16ULL << 20;  // both streams, after masking
  unsigned min_free_percent = 5;           // of the disk; looked at once a MiB
};

// The way of a task's output from its pipes to its spool: masked, counted, hashed, within the
// quota. Past the quota bytes are counted as dropped. With a full disk nothing more is kept and the
// totals say `gap`. Neither ever fails: the script must not notice.
class OutputKeeper {
 public:
  // The spool is made with the first byte that is kept: most tasks say nothing, and on a busy host
  // each file costs.
  // `words` are what the masked digest leaves out; `folder` is the task's, which Masker leaves out.
  OutputKeeper(std::string spool, const std::vector<std::string>& masks, OutputLimits limits,
               const LineMask::Words& words = {}, const std::string& folder = {});
  OutputKeeper(const OutputKeeper&) = delete;
  OutputKeeper& operator=(const OutputKeeper&) = delete;

  void Take(Stream stream, std::string_view bytes, WallTime now);

  // The stream ended: what the masker held back goes to the spool.
  void Close(Stream stream, WallTime now);

  LogTotals Totals() const;

 private:
  struct Side {
    Masker masker;
    OutputHash hash;
    MaskedHash masked_hash;
  };
  Side& Of(Stream stream) { return stream == Stream::kStdout ? stdout_ : stderr_; }
  void Keep(Stream stream, std::string_view bytes, WallTime now);
  std::size_t Append(Stream stream, std::string_view bytes, WallTime now);
  std::size_t KeepWhole(std::size_t bytes);
  bool OpenSpool();

  std::string path_;
  Fd spool_;
  OutputLimits limits_;
  LineMask line_mask_;
  Side stdout_;
  Side stderr_;
  std::string masked_;
  std::uint64_t kept_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t next_disk_check_ = 0;  // by kept_
  bool disk_full_ = false;
};

}  // namespace muster::agent
