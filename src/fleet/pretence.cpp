#include "fleet/pretence.hpp"

#include <algorithm>
#include <string_view>

#include "adapters/crypto/digest.hpp"
#include "agent/shim/masked_hash.hpp"

namespace muster::fleet {
namespace {

constexpr std::string_view kLine = "muster-fleet pretends to say this line of forty-eight bytes\n";

}  // namespace

std::string WithName(std::string text, const std::string& host) {
  constexpr std::string_view kPlace = "{host}";
  for (auto at = text.find(kPlace); at != text.npos; at = text.find(kPlace, at + host.size()))
    text.replace(at, kPlace.size(), host);
  return text;
}

Conduct Pretence::Of(const std::string& host) const {
  Conduct own = conduct;
  for (const auto& exception : exceptions) {
    if (!exception.hosts.Has(host)) continue;
    own.duration = exception.duration.value_or(own.duration);
    own.exit_code = exception.exit_code.value_or(own.exit_code);
    own.output = exception.output.value_or(own.output);
  }
  if (!own.output.empty()) own.output = WithName(std::move(own.output), host) + "\n";
  own.output_bytes = std::max<std::uint64_t>(own.output_bytes, own.output.size());
  return own;
}

std::string PretendedPiece(const std::string& text, std::uint64_t from, std::size_t size) {
  std::string piece;
  piece.reserve(size + kLine.size());
  if (from < text.size()) piece = text.substr(from, size);
  std::size_t skip = from < text.size() ? 0 : (from - text.size()) % kLine.size();
  while (piece.size() < size) {
    piece += kLine.substr(skip);
    skip = 0;
  }
  piece.resize(size);
  return piece;
}

LogTotals PretendedTotals(const std::string& text, std::uint64_t bytes, const std::string& host) {
  const std::string said = PretendedPiece(text, 0, bytes);
  agent::LineMask::Words words;
  if (!host.empty()) words.hosts.push_back(host);
  const agent::LineMask mask(words);
  agent::MaskedHash masked(mask);
  masked.Add(said);
  return {.bytes = bytes,
          .dropped = 0,
          .gap = false,
          .stdout_sha256 = crypto::Sha256(said),
          .stderr_sha256 = kEmptySha256,
          .masked_sha256 = JoinMasked(masked, agent::MaskedHash(mask))};
}

}  // namespace muster::fleet
