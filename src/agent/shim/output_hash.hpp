#pragma once

#include <memory>
#include <string>
#include <string_view>

struct SHA256state_st;

namespace muster::agent {

// SHA-256 of a stream, for the shim. The same as crypto::Sha256Stream, without OpenSSL's providers:
// to load them takes 0.9 ms, in a process that is started for each task and often lives no longer
// than a few of them.
class OutputHash {
 public:
  OutputHash();
  ~OutputHash();
  OutputHash(const OutputHash&);
  OutputHash(OutputHash&&) noexcept;

  void Add(std::string_view data);
  std::string Digest() const;  // of what was added so far, 32 bytes

 private:
  std::unique_ptr<SHA256state_st> state_;
};

}  // namespace muster::agent
