#include "agent/shim/masker.hpp"

#include <algorithm>
#include <utility>

namespace muster::agent {

Masker::Masker(const std::vector<std::string>& secrets, const std::string& folder) {
  for (const auto& secret : secrets) words_.push_back({secret, "***"});
  if (!folder.empty()) words_.push_back({folder + "/", ""});
  std::erase_if(words_, [](const Word& word) { return word.text.empty(); });
  std::stable_sort(words_.begin(), words_.end(),
                   [](const Word& a, const Word& b) { return a.text.size() > b.text.size(); });
  for (const auto& word : words_) begins_[static_cast<unsigned char>(word.text[0])] = true;
}

void Masker::Feed(std::string_view bytes, std::string& out) {
  held_.append(bytes);
  Mask(false, out);
}

void Masker::Finish(std::string& out) { Mask(true, out); }

bool Masker::MayContinue(std::string_view rest) const noexcept {
  for (const auto& word : words_) {
    // Longest first: none of the others is longer.
    if (word.text.size() <= rest.size()) return false;
    if (std::string_view(word.text).starts_with(rest)) return true;
  }
  return false;
}

const Masker::Word* Masker::LongestAt(std::string_view rest) const noexcept {
  for (const auto& word : words_)
    if (rest.starts_with(word.text)) return &word;
  return nullptr;
}

void Masker::Mask(bool at_end, std::string& out) {
  const std::string_view all = held_;
  std::size_t plain = 0;  // from here to `at` nothing is replaced
  std::size_t at = 0;
  while (at < all.size()) {
    if (!begins_[static_cast<unsigned char>(all[at])]) {
      ++at;
      continue;
    }
    const auto rest = all.substr(at);
    if (!at_end && MayContinue(rest)) break;
    if (const Word* word = LongestAt(rest)) {
      out.append(all.substr(plain, at - plain)).append(word->mark);
      plain = at += word->text.size();
    } else {
      ++at;
    }
  }
  out.append(all.substr(plain, at - plain));
  held_.erase(0, at);
}

}  // namespace muster::agent
