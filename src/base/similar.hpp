#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// Letters to add, leave out, change or swap with their neighbour to make `b` of `a`; more than
// `most` (at most 31) are given as most + 1, and so are those of words longer than 64 letters. The
// cost grows with the shorter word and with `most`, so that many names can be compared.
std::size_t Slips(std::string_view a, std::string_view b, std::size_t most);

// Finds which of many names was perhaps meant by one that is unknown: the same but for case, the
// same with or without a domain, one or two slips, or one that begins alike. Names that differ in
// their numbers only are neighbours and not meant (web1 and web2), unless the numbers are equal
// (web1 and web01).
class NearestName {
 public:
  // `typed` must outlive it.
  explicit NearestName(std::string_view typed);

  void Offer(std::string_view name);

  const std::string& Best() const { return best_; }  // "" is none
  // "; did you mean web7?", or "" when no name is near: the end of a sentence.
  std::string Hint() const;

 private:
  std::size_t Rate(std::string_view name) const;

  std::string_view typed_;
  std::size_t most_;  // slips
  std::size_t rate_;  // of the best; lower is nearer
  std::string best_;
};

}  // namespace muster
