#pragma once

#include "adapters/net/asio.hpp"

namespace muster::net {

// Whether `parser` may be given what is there, `size` bytes. Beast (1.81) aborts the program when
// the end of a chunked body reaches it in less than its five bytes ("0\r\n\r\n") after it has seen
// their beginning. Until such a body is complete at least these five always follow, so waiting for
// so many loses nothing.
template <typename Parser>
bool MayPut(const Parser& parser, std::size_t size) {
  constexpr std::size_t kLastChunk = 5;
  if (size == 0) return false;
  return !parser.is_header_done() || !parser.chunked() || size >= kLastChunk;
}

}  // namespace muster::net
