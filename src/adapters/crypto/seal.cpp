#include "adapters/crypto/seal.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "adapters/crypto/bytes.hpp"
#include "base/text.hpp"

namespace muster::crypto {
namespace {

constexpr char kFormat = 1;
constexpr std::size_t kIdSize = 8;
constexpr std::size_t kKeySize = crypto_aead_xchacha20poly1305_ietf_KEYBYTES;
constexpr std::size_t kNonceSize = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagSize = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kHeadSize = 1 + kIdSize;
constexpr std::size_t kMostFile = 1 << 20;
constexpr std::string_view kFirstLine = "# Muster seal keys, newest last. Back this file up.\n";

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int Number() const noexcept { return number_; }

 private:
  int number_;
};

std::unexpected<Error> FileProblem(std::string_view what, const std::filesystem::path& path) {
  return Fail(ErrorCode::kUnavailable, "cannot {} {}: {}", what, path.string(),
              std::strerror(errno));
}

// kNotFound when there is none.
Result<std::string> ReadKeyFile(const std::filesystem::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.Number() < 0) {
    if (errno == ENOENT) return Fail(ErrorCode::kNotFound, "there is no {}", path.string());
    return FileProblem("read", path);
  }
  struct stat about{};
  if (::fstat(file.Number(), &about) != 0) return FileProblem("read", path);
  if ((about.st_mode & 0077) != 0)
    return Fail(ErrorCode::kInvalid,
                "{} can be read by others, so every secret may be known: chmod 0600 it if you know "
                "that nobody did, else replace it (docs/secrets.md) and set every secret again",
                path.string());
  if (static_cast<std::size_t>(about.st_size) > kMostFile)
    return Fail(ErrorCode::kInvalid, "{} is too large for a key file", path.string());
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.Number(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return FileProblem("read", path);
    have += static_cast<std::size_t>(got);
  }
  return text;
}

bool WriteAll(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// Whole and synced, folder included: a value sealed with a key that a power cut takes away would be
// lost.
Result<> WriteKeyFile(const std::filesystem::path& path, std::string_view text) {
  const std::string temporary = path.string() + ".new";
  {
    ::unlink(temporary.c_str());
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.Number() < 0 || !WriteAll(file.Number(), text) || ::fsync(file.Number()) != 0)
      return FileProblem("write", path);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return FileProblem("write", path);
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const File folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.Number() < 0 || ::fsync(folder.Number()) != 0) return FileProblem("sync", parent);
  return {};
}

std::string Bound(std::string_view head, std::string_view name) {
  std::string bound(head);
  bound += name;
  return bound;
}

}  // namespace

Sealer::Key Sealer::MakeKey(std::string bytes) {
  static constexpr std::string_view kPurpose = "muster seal key id";
  Key key;
  // BLAKE2b with the key as its key; libsodium's shortest digest is 16 bytes.
  std::string digest(crypto_generichash_BYTES_MIN, '\0');
  MUSTER_CHECK(crypto_generichash(Bytes(digest), digest.size(), Bytes(kPurpose), kPurpose.size(),
                                  Bytes(std::string_view(bytes)), bytes.size()) == 0);
  key.id = digest.substr(0, kIdSize);
  key.bytes = SecretText::Take(bytes);
  return key;
}

Result<std::vector<Sealer::Key>> Sealer::Parse(const std::string& text) {
  std::vector<Key> keys;
  std::size_t number = 0;
  for (const auto line : Split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto words = Split(line, ' ');
    auto id = words.size() == 3 && words[0] == "key" ? FromHex(words[1]) : std::nullopt;
    auto bytes = id ? FromHex(words[2]) : std::nullopt;
    if (!bytes || bytes->size() != kKeySize)
      return Fail(ErrorCode::kInvalid, "line {} is no key", number);
    Key key = MakeKey(std::move(*bytes));
    if (key.id != *id) return Fail(ErrorCode::kInvalid, "the key in line {} is damaged", number);
    keys.push_back(std::move(key));
  }
  if (keys.empty()) return Fail(ErrorCode::kInvalid, "there is no key in it");
  return keys;
}

Result<> Sealer::Save(const std::vector<Key>& keys) const {
  std::string text(kFirstLine);
  for (const auto& key : keys) {
    std::string hex = ToHex(key.bytes.Reveal());
    text += "key " + ToHex(key.id) + " " + hex + "\n";
    SecretText::Wipe(hex);
  }
  const SecretText kept = SecretText::Take(text);
  return WriteKeyFile(file_, kept.Reveal());
}

Result<Sealer> Sealer::Open(const std::filesystem::path& file) {
  MUSTER_CHECK(sodium_init() >= 0);
  Sealer sealer(file);
  auto text = ReadKeyFile(file);
  if (!text && text.error().code != ErrorCode::kNotFound) return Fail(text.error());
  if (!text) {
    if (auto made = sealer.Rotate(); !made) return Fail(made.error());
    return sealer;
  }
  auto keys = Parse(*text);
  SecretText::Wipe(*text);
  if (!keys)
    return Fail(keys.error().code, "{}: {}; restore the file from a backup", file.string(),
                keys.error().message);
  sealer.keys_ = std::move(*keys);
  return sealer;
}

Result<> Sealer::Rotate() {
  std::string bytes(kKeySize, '\0');
  crypto_aead_xchacha20poly1305_ietf_keygen(Bytes(bytes));
  std::vector<Key> keys = keys_;
  keys.push_back(MakeKey(std::move(bytes)));
  if (auto saved = Save(keys); !saved) return saved;
  keys_ = std::move(keys);
  return {};
}

std::string Sealer::Seal(std::string_view name, std::string_view value) const {
  const Key& key = keys_.back();
  std::string blob(1, kFormat);
  blob += key.id;
  const std::string bound = Bound(blob, name);
  blob.resize(kHeadSize + kNonceSize + value.size() + kTagSize);
  unsigned char* nonce = Bytes(blob) + kHeadSize;
  randombytes_buf(nonce, kNonceSize);
  MUSTER_CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt(
                   nonce + kNonceSize, nullptr, Bytes(value), value.size(), Bytes(bound),
                   bound.size(), nullptr, nonce, Bytes(key.bytes.Reveal())) == 0);
  return blob;
}

Result<SecretText> Sealer::Unseal(std::string_view name, std::string_view sealed) const {
  if (sealed.size() < kHeadSize + kNonceSize + kTagSize || sealed.front() != kFormat)
    return Fail(ErrorCode::kInvalid, "secret '{}': what is kept of it is damaged; set it again",
                name);
  const std::string_view id = sealed.substr(1, kIdSize);
  for (const auto& key : keys_) {
    if (key.id != id) continue;
    const std::string bound = Bound(sealed.substr(0, kHeadSize), name);
    const unsigned char* nonce = Bytes(sealed) + kHeadSize;
    const std::size_t size = sealed.size() - kHeadSize - kNonceSize;
    std::string value(size - kTagSize, '\0');
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            Bytes(value), nullptr, nullptr, nonce + kNonceSize, size, Bytes(bound), bound.size(),
            nonce, Bytes(key.bytes.Reveal())) != 0)
      return Fail(ErrorCode::kInvalid, "secret '{}': what is kept of it was changed; set it again",
                  name);
    return SecretText::Take(value);
  }
  return Fail(ErrorCode::kNotFound,
              "secret '{}' was sealed with key {}, which is not in {}; restore that file or set "
              "the secret again",
              name, ToHex(id), file_.string());
}

bool Sealer::IsCurrent(std::string_view sealed) const noexcept {
  return sealed.size() > kHeadSize && sealed.substr(1, kIdSize) == keys_.back().id;
}

}  // namespace muster::crypto
