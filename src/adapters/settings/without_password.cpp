#include <string>
#include <string_view>

#include "adapters/settings/settings.hpp"

namespace muster::settings {
namespace {

constexpr std::string_view kHidden = "***";

// Rather too much than too little: a password may hold what does not belong into an address.
void HideInUrl(std::string& address) {
  const auto scheme = address.find("://");
  if (scheme == address.npos) return;
  const auto colon = address.find(':', scheme + 3);
  const auto at = address.rfind('@');
  if (colon == address.npos || at == address.npos || colon > at) return;
  address.replace(colon + 1, at - colon - 1, kHidden);
}

std::size_t EndOfValue(const std::string& text, std::size_t from) {
  if (from >= text.size() || text[from] != '\'')
    return std::min(text.find_first_of(" \t\n&", from), text.size());
  for (std::size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '\'')
      return i + 1;
  }
  return text.size();
}

// `password = 'it'`, and `?password=it` of an URL.
void HideWords(std::string& address) {
  constexpr std::string_view kName = "password";
  for (auto at = address.find(kName); at != address.npos; at = address.find(kName, at)) {
    at += kName.size();
    const auto equals = address.find_first_not_of(" \t\n", at);
    if (equals == address.npos || address[equals] != '=') continue;
    const auto value = std::min(address.find_first_not_of(" \t\n", equals + 1), address.size());
    address.replace(value, EndOfValue(address, value) - value, kHidden);
    at = value + kHidden.size();
  }
}

}  // namespace

std::string WithoutPassword(const std::string& address) {
  std::string shown = address;
  HideInUrl(shown);
  HideWords(shown);
  return shown;
}

}  // namespace muster::settings
