#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster {

// A file of the artifact store. It is known by the SHA-256 of its content (32 bytes), so it never
// changes.
struct Artifact {
  std::string sha256;
  std::uint64_t size = 0;
  WallTime used;  // when it was last put there, asked for or read, about

  friend bool operator==(const Artifact&, const Artifact&) = default;
};

// Reads one artifact, from any thread but one at a time. It stays readable when it is removed
// meanwhile.
class ArtifactReader {
 public:
  virtual ~ArtifactReader() = default;
  virtual std::uint64_t Size() const = 0;
  // Up to `size` bytes from `offset` on; less only at the end. kUnavailable: the disk failed.
  virtual Result<std::string> Read(std::uint64_t offset, std::size_t size) = 0;
};

// One upload in progress, from any thread but one at a time. Destroyed before Finish it leaves what
// came, for the next Begin of the same uploader to go on with.
class ArtifactUpload {
 public:
  virtual ~ArtifactUpload() = default;
  virtual std::uint64_t Offset() const = 0;  // bytes that are there
  // kInvalid: more than the promised size. kUnavailable: the disk is full or failed; a full disk
  // also gives back what this upload took. After either only its destruction follows.
  virtual Result<> Append(std::string_view data) = 0;
  // Makes the artifact durable and known, also when it was already. kInvalid: bytes are missing
  // (they can be added), or the content has another hash (then all of it is discarded).
  virtual Result<> Finish() = 0;
};

// Keeps files by content. Safe from any thread. Memory does not grow with the size of files. A hash
// that is not 32 bytes is kInvalid everywhere.
//
// Uploads belong to their uploader, whose name is any text: each has its own of a content, and none
// waits for another, goes on with what another sent, or learns of it.
class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;

  // What is there under this hash; counts as use.
  virtual Result<std::optional<Artifact>> Find(const std::string& sha256) = 0;

  // kNotFound: it is not there, or not whole yet. Counts as use.
  virtual Result<std::unique_ptr<ArtifactReader>> Open(const std::string& sha256) = 0;

  // How much of an upload of `uploader` is there that was begun and not finished; 0 when none was.
  virtual Result<std::uint64_t> Uploaded(const std::string& sha256,
                                         const std::string& uploader) = 0;

  // Goes on with an upload at `offset`, which is 0 (what was there before is discarded) or what
  // Uploaded says; also of a content that is there. kConflict: the offset is another, or `uploader`
  // uploads it at this moment. kInvalid: larger than allowed. kUnavailable: it would not fit the
  // disk.
  virtual Result<std::unique_ptr<ArtifactUpload>> Begin(const std::string& sha256,
                                                        const std::string& uploader,
                                                        std::uint64_t size,
                                                        std::uint64_t offset) = 0;

  // At most `limit`, in the order of their hashes, those after `after` ("" is the beginning).
  virtual Result<std::vector<Artifact>> List(const std::string& after, std::size_t limit) = 0;

  // Harmless when it is not there.
  virtual Result<> Remove(const std::string& sha256) = 0;

  // Removes unfinished uploads nobody went on with since `moment`.
  virtual Result<> DropUploads(WallTime moment) = 0;
};

}  // namespace muster
