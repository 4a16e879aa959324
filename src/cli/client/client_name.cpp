#include "cli/client/client_name.hpp"

#include <algorithm>
#include <array>
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/version.hpp"

namespace muster::cli {
namespace {

// A header takes printable ASCII only.
std::string Harmless(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return text;
}

std::string UserName() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(geteuid());
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

std::string ClientName() {
  return fmt::format("muster/{} {}@{}", kVersion, Harmless(UserName()), Harmless(HostName()));
}

}  // namespace muster::cli
