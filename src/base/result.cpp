#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace muster {

std::string_view Name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kDenied:
      return "denied";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kFenced:
      return "fenced";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

void CheckFailed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace muster
