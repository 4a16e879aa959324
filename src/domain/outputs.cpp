#include "domain/outputs.hpp"

#include <algorithm>

namespace muster {
namespace {

bool IsLetter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool MayFollow(char c) noexcept {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

}  // namespace

bool IsOutputName(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxOutputName && IsLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), MayFollow);
}

}  // namespace muster
