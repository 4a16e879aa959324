#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace muster {

// What went wrong, for programs. The message beside it is for operators.
enum class ErrorCode {
  kInvalid,      // the caller's input is wrong; the same call will fail again
  kDenied,       // the caller may not do this
  kNotFound,     // no such thing
  kConflict,     // the thing is in a state that does not allow this
  kFenced,       // another term holds the store; whoever gets this no longer leads
  kUnavailable,  // it did not happen; retry with backoff
  kTimeout,      // it may have happened; retry what carries an identity, ask about the rest
  kInternal,     // a bug of ours
};

std::string_view Name(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> Fail(Error error) { return std::unexpected(std::move(error)); }

// Fail(ErrorCode::kConflict, "run {} already ended", id)
template <typename... Args>
std::unexpected<Error> Fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// Stops the program: a broken promise of our own code, never a matter of input.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace muster

#define MUSTER_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::muster::CheckFailed(#condition, __FILE__, __LINE__))
