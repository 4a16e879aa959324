#include "adapters/egress/path.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace muster::outside {

bool IsAmbiguous(std::string_view path) noexcept {
  for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    const auto code = path.substr(at + 1, 2);
    if (code == "2e" || code == "2E" || code == "2f" || code == "2F" || code == "5c" ||
        code == "5C" || code == "25")
      return true;
  }
  return path.contains('\\') || path.contains("/..;") || path.contains("/..%");
}

std::string LenientReading(std::string_view path) {
  std::vector<std::string> segments;
  bool folder = true;  // ends with '/'
  for (const auto part : Split(path, '/')) {
    std::string segment = PercentDecoded(part);
    segment.resize(std::min(segment.find(';'), segment.size()));
    folder = segment.empty() || segment == "." || segment == "..";
    if (segment == ".." && !segments.empty()) segments.pop_back();
    if (!folder) segments.push_back(InLowerCase(segment));
  }
  std::string reading;
  for (const auto& segment : segments) reading += "/" + segment;
  return folder ? reading + "/" : reading;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = text[at] == '%' ? FromHex(text.substr(at + 1, 2)) : std::nullopt;
    const bool whole = byte && byte->size() == 1;
    decoded += whole ? byte->front() : text[at];
    if (whole) at += 2;
  }
  return decoded;
}

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace muster::outside
