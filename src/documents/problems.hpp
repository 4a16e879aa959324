#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/documents.hpp"

namespace muster::documents {

// Gathers what is wrong with one document, so that a person corrects it in one go.
class Problems {
 public:
  template <typename... Args>
  void Add(Position at, fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back({at, fmt::format(format, std::forward<Args>(args)...)});
  }
  bool Empty() const { return list_.empty(); }

  // In the order of the document, at most kMaxProblems and one that counts the others.
  std::vector<Problem> Take(const std::string& file) &&;

 private:
  std::vector<std::pair<Position, std::string>> list_;
};

// The known word that `word` was probably meant to be; "" when none is near.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& known);

// "; did you mean 'script'?", or "; known are a, b" when none is near, or "" when none is known.
std::string Suggestion(std::string_view word, const std::vector<std::string_view>& known);

// "a, b or c"
std::string Either(const std::vector<std::string_view>& words);

// A text on one line and not longer than a message wants.
std::string Shortened(std::string_view text);

}  // namespace muster::documents
