#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "adapters/archive/manifest.hpp"
#include "base/result.hpp"

namespace muster::archive {

// Writes one file that holds several: a tar, compressed with zstd, with a manifest at its end. The
// file has mode 0600, is written under FILE.new, and appears under its name whole and synced, or
// not at all.
class Writer {
 public:
  static Result<Writer> Create(const std::filesystem::path& file);
  Writer(Writer&& other) noexcept;
  ~Writer();  // drops what was not finished

  // Adds a file as it is now. kUnavailable: it cannot be read, or changed meanwhile, or there is no
  // room.
  Result<> Add(const std::string& name, const std::filesystem::path& from);

  void SetFact(const std::string& name, const std::string& word);

  // Ends the archive and puts it in its place. The manifest, for telling people.
  Result<Manifest> Finish();

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::archive
