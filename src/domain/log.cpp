#include "domain/log.hpp"

#include "base/text.hpp"

namespace muster {

const std::string kEmptySha256 =
    *FromHex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

std::string_view Name(LogState state) noexcept {
  switch (state) {
    case LogState::kOpen:
      return "open";
    case LogState::kComplete:
      return "complete";
    case LogState::kGap:
      return "gap";
    case LogState::kCut:
      return "cut";
    case LogState::kExpired:
      return "expired";
  }
  return "open";
}

std::string_view Name(Stream stream) noexcept {
  switch (stream) {
    case Stream::kStdout:
      return "stdout";
    case Stream::kStderr:
      return "stderr";
  }
  return "stdout";
}

}  // namespace muster
