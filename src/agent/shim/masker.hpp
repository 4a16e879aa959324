#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Replaces words in a stream that comes in pieces: secrets by "***", and the task's folder,
// which differs from host to host, by nothing: of the path of its script "script" is left, of that
// of its outputs "output". What comes out does not depend on how the
// stream was cut: at each place the longest word that stands there is replaced. So a piece whose
// end could be the beginning of a word is held back until more is known.
class Masker {
 public:
  // Empty ones are ignored.
  explicit Masker(const std::vector<std::string>& secrets, const std::string& folder = {});

  // Without words bytes pass unchanged; a caller may skip Feed and Finish.
  bool Idle() const noexcept { return words_.empty(); }

  // Appends to `out` what is sure of everything fed so far.
  void Feed(std::string_view bytes, std::string& out);

  // The stream ended: appends what was held back.
  void Finish(std::string& out);

 private:
  void Mask(bool at_end, std::string& out);
  bool MayContinue(std::string_view rest) const noexcept;
  struct Word {
    std::string text;
    std::string_view mark;
  };
  const Word* LongestAt(std::string_view rest) const noexcept;

  std::vector<Word> words_;         // longest first
  std::array<bool, 256> begins_{};  // bytes that begin a word
  std::string held_;
};

}  // namespace muster::agent
