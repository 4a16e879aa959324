#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace muster::crypto {

// SHA-256 as 32 raw bytes.
std::string Sha256(std::string_view data);

// The same, piece by piece.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream& other);  // goes on independently from the same state
  Sha256Stream& operator=(const Sha256Stream& other);
  void Add(std::string_view data);
  std::string Digest() const;  // of what was added so far; may be asked again after more Add

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `count` bytes from the system's generator.
std::string RandomBytes(std::size_t count);

}  // namespace muster::crypto
