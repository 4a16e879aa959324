#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Replaces secrets in a stream that comes in pieces. What comes out does not depend on how the
// stream was cut: at each place the longest secret that stands there becomes "***". So a piece
// whose end could be the beginning of a secret is held back until more is known.
class Masker {
 public:
  explicit Masker(std::vector<std::string> secrets);  // empty ones are ignored

  // Without secrets bytes pass unchanged; a caller may skip Feed and Finish.
  bool Idle() const noexcept { return secrets_.empty(); }

  // Appends to `out` what is sure of everything fed so far.
  void Feed(std::string_view bytes, std::string& out);

  // The stream ended: appends what was held back.
  void Finish(std::string& out);

 private:
  void Mask(bool at_end, std::string& out);
  bool MayContinue(std::string_view rest) const noexcept;
  std::size_t LongestAt(std::string_view rest) const noexcept;

  std::vector<std::string> secrets_;  // longest first
  std::array<bool, 256> begins_{};    // bytes that begin a secret
  std::string held_;
};

}  // namespace muster::agent
