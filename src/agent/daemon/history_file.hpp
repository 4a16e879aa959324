#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "link/node.hpp"

namespace muster::agent {

// Where nodes write down what they did, line by line, for `muster check history --journal`. Each
// line is one write at the end of the file, so several nodes and programs may share one, and what
// was written outlives the program (not the machine: nothing is synced). Not thread-safe.
class HistoryFile {
 public:
  // Begins the file or goes on behind what it holds; kUnavailable when that cannot be.
  static Result<HistoryFile> Open(const std::filesystem::path& path);
  ~HistoryFile();
  HistoryFile(HistoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  HistoryFile& operator=(HistoryFile&&) = delete;

  // Writes the moments of `node` from now on; both and this must outlive it. A line that cannot be
  // written is left out: a full disk is no reason to stop work.
  void Follow(link::Node& node, std::string host, std::string store);

 private:
  explicit HistoryFile(int fd) : fd_(fd) {}
  void Write(const std::string& line) const;

  int fd_;
};

}  // namespace muster::agent
