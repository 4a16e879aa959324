#pragma once

#include <string>

#include "adapters/crypto/digest.hpp"
#include "agent/files.hpp"
#include "agent/transfer/courier.hpp"

namespace muster::agent {

// A file on its way here: DATA/files/SHA256.part. What is there stays when the task is killed, and
// the next one that wants the same content goes on with it. Two tasks that want it at once take
// turns.
class PartFile {
 public:
  // Gets the whole content; kInvalid when it has another hash, kUnavailable when the disk is full.
  static Result<PartFile> Fetch(const std::string& data, const std::string& sha256,
                                std::uint64_t size, Courier& courier);
  PartFile(PartFile&&) = default;
  PartFile& operator=(PartFile&&) = default;

  int Get() const { return file_.Get(); }
  const std::string& Path() const { return path_; }
  void Remove() const;

 private:
  PartFile(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  static Result<PartFile> Open(const std::string& data, const std::string& sha256);

  Fd file_;
  std::string path_;
};

// Removes parts nobody went on with for a week.
void TidyParts(const std::string& data);

// The hash of an open file's first `size` bytes; kInvalid when it has less.
Result<std::string> HashOf(int fd, std::uint64_t size, const std::string& path);

// "no space left on the disk of PATH", and other errors of writing, in words.
Error WriteError(std::string_view verb, const std::string& path, int error);

}  // namespace muster::agent
