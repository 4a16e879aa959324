#include "agent/masker.hpp"

#include <algorithm>
#include <utility>

namespace muster::agent {

Masker::Masker(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  std::erase_if(secrets_, [](const std::string& secret) { return secret.empty(); });
  std::sort(secrets_.begin(), secrets_.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (const auto& secret : secrets_) begins_[static_cast<unsigned char>(secret[0])] = true;
}

void Masker::Feed(std::string_view bytes, std::string& out) {
  held_.append(bytes);
  Mask(false, out);
}

void Masker::Finish(std::string& out) { Mask(true, out); }

bool Masker::MayContinue(std::string_view rest) const noexcept {
  for (const auto& secret : secrets_) {
    if (secret.size() <= rest.size()) return false;  // longest first: none of the others is longer
    if (std::string_view(secret).starts_with(rest)) return true;
  }
  return false;
}

std::size_t Masker::LongestAt(std::string_view rest) const noexcept {
  for (const auto& secret : secrets_)
    if (rest.starts_with(secret)) return secret.size();
  return 0;
}

void Masker::Mask(bool at_end, std::string& out) {
  const std::string_view all = held_;
  std::size_t plain = 0;  // from here to `at` nothing is secret
  std::size_t at = 0;
  while (at < all.size()) {
    if (!begins_[static_cast<unsigned char>(all[at])]) {
      ++at;
      continue;
    }
    const auto rest = all.substr(at);
    if (!at_end && MayContinue(rest)) break;
    if (const std::size_t length = LongestAt(rest)) {
      out.append(all.substr(plain, at - plain)).append("***");
      plain = at += length;
    } else {
      ++at;
    }
  }
  out.append(all.substr(plain, at - plain));
  held_.erase(0, at);
}

}  // namespace muster::agent
