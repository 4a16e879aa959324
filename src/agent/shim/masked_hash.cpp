#include "agent/shim/masked_hash.hpp"

#include <algorithm>

namespace muster::agent {
namespace {

constexpr std::size_t kHashAtOnce = 16 << 10;

}  // namespace

void MaskedHash::Add(std::string_view data) {
  while (!data.empty()) {
    const std::size_t line_end = data.find('\n');
    const std::size_t size = line_end == data.npos ? data.size() : line_end + 1;
    const std::size_t taken = std::min(size, kMaxLine - begun_.size());
    const bool whole = taken == kMaxLine - begun_.size() || line_end + 1 == taken;
    if (begun_.empty() && whole) {
      AddLine(data.substr(0, taken));
    } else {
      begun_.append(data, 0, taken);
      if (whole) {
        AddLine(begun_);
        begun_.clear();
      }
    }
    data.remove_prefix(taken);
  }
}

void MaskedHash::AddLine(std::string_view line) {
  mask_.Mask(line, masked_);
  if (masked_.size() < kHashAtOnce) return;
  hash_.Add(masked_);
  masked_.clear();
}

std::string MaskedHash::Digest() const {
  OutputHash hash = hash_;
  std::string rest = masked_;
  mask_.Mask(begun_, rest);
  hash.Add(rest);
  return hash.Digest();
}

std::string JoinMasked(const MaskedHash& out, const MaskedHash& err) {
  OutputHash both;
  both.Add(out.Digest());
  both.Add(err.Digest());
  return both.Digest();
}

}  // namespace muster::agent
