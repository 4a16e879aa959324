#pragma once

#include <cerrno>
#include <unistd.h>

namespace muster::agent {

static_assert(sizeof(long) == 8);  // else some calls have other names for what they do now

// A system call that touches nothing of this process but what the kernel writes for it: errno too
// is left alone. For a process that shares its memory, and with it errno, with another one.
// Returns what the kernel does: -errno on failure.
#if defined(__x86_64__)

inline constexpr bool kBareCalls = true;

inline long BareCall(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  long result = number;
  register long fourth asm("r10") = d;  // NOLINT(*-no-assembler)
  asm volatile("syscall"                // NOLINT(*-no-assembler)
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

inline constexpr bool kBareCalls = true;

inline long BareCall(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  register long what asm("x8") = number;  // NOLINT(*-no-assembler)
  register long first asm("x0") = a;      // NOLINT(*-no-assembler)
  register long second asm("x1") = b;     // NOLINT(*-no-assembler)
  register long third asm("x2") = c;      // NOLINT(*-no-assembler)
  register long fourth asm("x3") = d;     // NOLINT(*-no-assembler)
  asm volatile("svc 0"                    // NOLINT(*-no-assembler)
               : "+r"(first)
               : "r"(what), "r"(second), "r"(third), "r"(fourth)
               : "memory");
  return first;
}

#else

inline constexpr bool kBareCalls = false;  // errno is written

inline long BareCall(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  const long result = ::syscall(number, a, b, c, d);
  return result < 0 ? -errno : result;
}

#endif

template <typename T>
long Address(T* pointer) noexcept {
  return reinterpret_cast<long>(pointer);  // NOLINT(*-reinterpret-cast)
}

}  // namespace muster::agent
