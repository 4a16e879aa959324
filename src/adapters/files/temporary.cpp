#include "adapters/files/temporary.hpp"

#include <cerrno>
#include <fcntl.h>
#include <random>
#include <unistd.h>

#include <fmt/format.h>

namespace muster::files {
namespace {

constexpr int kAttempts = 100;

std::string RandomLetters() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string letters(10, 'a');
  for (char& letter : letters) letter = kLetters[random() % kLetters.size()];
  return letters;
}

}  // namespace

std::optional<Temporary> Temporary::Make(int folder, const std::string& target) {
  bool short_name = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = short_name ? ".muster-" + RandomLetters()
                                        : fmt::format(".{}.muster-{}", target, RandomLetters());
    Fd fd(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd) return Temporary(std::move(fd), folder, name);
    if (errno == ENAMETOOLONG && !short_name)
      short_name = true;
    else if (errno != EEXIST)
      break;
  }
  return {};
}

Temporary::Temporary(Temporary&& other) noexcept
    : file_(std::move(other.file_)),
      folder_(other.folder_),
      name_(std::exchange(other.name_, {})) {}

Temporary::~Temporary() {
  if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
}

bool Temporary::Become(const std::string& target) {
  if (::renameat(folder_, name_.c_str(), folder_, target.c_str()) != 0) return false;
  name_.clear();
  return true;
}

}  // namespace muster::files
