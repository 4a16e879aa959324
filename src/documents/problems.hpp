#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/documents.hpp"

namespace muster::documents {

// The known word that `word` was probably meant to be; "" when none is near.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& known);

// "; did you mean 'script'?", or "; known are a, b" when none is near, or "" when none is known. Of
// very many words only the first are looked at or named.
std::string Suggestion(std::string_view word, const std::vector<std::string_view>& known);

// Gathers what is wrong with one document, so that a person corrects it in one go.
class Problems {
 public:
  template <typename... Args>
  void Add(Position at, fmt::format_string<Args...> format, Args&&... args) {
    Put(at, fmt::format(format, std::forward<Args>(args)...));
  }
  bool Empty() const { return list_.empty(); }

  // False: a problem here would not be among the kMaxProblems that are told, so that its words do
  // not matter.
  bool Tells(Position at) const { return first_.size() < kMaxProblems || at < first_.back(); }
  // The suggestion for a problem that is told, "" for any other: there may be as many unknown words
  // as known ones. `known` gives the known words.
  template <typename Known>
  std::string Suggest(Position at, std::string_view word, const Known& known) const {
    return Tells(at) ? Suggestion(word, known()) : "";
  }

  // In the order of the document, at most kMaxProblems and one that counts the others.
  std::vector<Problem> Take(const std::string& file) &&;

 private:
  void Put(Position at, std::string sentence);

  std::set<std::pair<Position, std::string>> list_;
  std::vector<Position> first_;  // the places of the first kMaxProblems, in order
};

// "a, b or c"
std::string Either(const std::vector<std::string_view>& words);

// A text on one line and not longer than a message wants.
std::string Shortened(std::string_view text, std::size_t most = 40);

// Bytes of a text that is perhaps no document at all, as a token in a file that was named by
// mistake: a message must not give it away.
inline constexpr std::size_t kMostOfAnything = 16;

}  // namespace muster::documents
