#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/net/http.hpp"

// HTTP/1.1 as text, for both ends.
namespace muster::net {

bool SameName(std::string_view a, std::string_view b) noexcept;  // of two headers: without case

std::string_view ReasonOf(int status) noexcept;

// How the body that follows a response's head is delimited.
enum class Framing { kLength, kChunked, kUntilClose, kNone };

struct ResponseShape {
  Framing framing = Framing::kLength;
  std::uint64_t length = 0;  // for kLength
  bool keep_alive = true;
};

// Status line and headers with the empty line; the caller's own Content-Length, Date, Connection
// and Transfer-Encoding are left out, and so are headers that would break the framing.
std::string ResponseHead(int status, const Headers& headers, const ResponseShape& shape);

// The API's error form with its content type.
HttpResponse ErrorResponse(int status, std::string_view code, std::string_view message);

// A request as it goes out, body included; with `length` so many bytes follow instead.
std::string RequestText(const HttpRequest& request, std::string_view host,
                        std::optional<std::uint64_t> length = {});

}  // namespace muster::net
