#include "domain/outputs.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace muster {
namespace {

bool MayBegin(char c) noexcept { return IsLetter(c) || c == '_'; }

bool MayFollow(char c) noexcept { return MayBegin(c) || IsDigit(c) || c == '.' || c == '-'; }

}  // namespace

bool IsOutputName(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxOutputName && MayBegin(name[0]) &&
         std::all_of(name.begin(), name.end(), MayFollow);
}

}  // namespace muster
