#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/secret_text.hpp"

// Sealing at rest: what is kept in the store can be read only with the key file beside it.
// XChaCha20-Poly1305 with a random nonce for each seal.
namespace muster::crypto {

// A sealed blob is one byte of format, the id of its key, nonce, and ciphertext with its tag.
// Format, key id and the name it was sealed under are bound in: a blob that is moved to another
// name, or changed in any bit, does not open.
//
// Safe to use from several threads, except Rotate.
class Sealer {
 public:
  // Reads the key file, or makes it (0600) with one key when there is none. kInvalid: it is
  // damaged, or others may read it; then nothing is changed. A damaged file is never replaced, as
  // everything sealed with it would be lost.
  static Result<Sealer> Open(const std::filesystem::path& file);

  std::string Seal(std::string_view name, std::string_view value) const;

  // kInvalid: not sealed under this name, changed, or cut. kNotFound: its key is not in the file.
  Result<SecretText> Unseal(std::string_view name, std::string_view sealed) const;

  // Adds a key to the file; from then on Seal uses it. Older keys stay, so that what was sealed
  // with them opens. When the file cannot be written nothing changes.
  Result<> Rotate();

  // Whether `sealed` was made with the newest key; whoever rotates seals the others anew.
  bool IsCurrent(std::string_view sealed) const noexcept;

  std::size_t Keys() const noexcept { return keys_.size(); }

 private:
  struct Key {
    std::string id;  // follows from the bytes, so a damaged line is noticed
    SecretText bytes;
  };
  explicit Sealer(std::filesystem::path file) : file_(std::move(file)) {}
  static Key MakeKey(std::string bytes);
  static Result<std::vector<Key>> Parse(const std::string& text);
  Result<> Save(const std::vector<Key>& keys) const;

  std::filesystem::path file_;
  std::vector<Key> keys_;  // oldest first
};

}  // namespace muster::crypto
