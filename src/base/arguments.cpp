#include "base/arguments.hpp"

#include <cstring>

namespace muster {
namespace {

void Cover(char* text) noexcept { std::memset(text, 'x', std::strlen(text)); }

}  // namespace

void HideArgument(int argc, char** argv, std::string_view option) noexcept {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") return;
    if (!word.starts_with(option)) continue;
    if (word.size() == option.size() && i + 1 < argc) Cover(argv[++i]);
    if (word.substr(option.size()).starts_with('=')) Cover(argv[i] + option.size() + 1);
  }
}

}  // namespace muster
