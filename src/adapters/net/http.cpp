#include "adapters/net/http.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <ctime>
#include <strings.h>

#include <fmt/format.h>

#include "adapters/net/http_text.hpp"

namespace muster::net {

bool SameName(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

bool IsOurs(std::string_view name) noexcept {
  return SameName(name, "Content-Length") || SameName(name, "Date") ||
         SameName(name, "Connection") || SameName(name, "Transfer-Encoding");
}

// A line break in a header would let its author write headers, or a whole answer, of their own.
bool IsSafe(std::string_view name, std::string_view value) noexcept {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  return !name.empty() && name.find_first_of("\r\n: ") == std::string_view::npos &&
         value.find_first_of(kBreaks) == std::string_view::npos;
}

void AddHeaders(std::string& text, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (IsOurs(name) || !IsSafe(name, value)) continue;
    text.append(name).append(": ").append(value).append("\r\n");
  }
}

std::string HttpDate() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  return std::string(text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts));
}

std::string JsonText(std::string_view text) {
  std::string json;
  for (char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return json;
}

}  // namespace

std::string_view FindHeader(const Headers& headers, std::string_view name) noexcept {
  for (const auto& [key, value] : headers) {
    if (SameName(key, name)) return value;
  }
  return {};
}

std::string SourceOf(std::string_view remote) {
  if (!remote.starts_with('[')) return std::string(remote.substr(0, remote.rfind(':')));
  std::string address(remote.substr(1, remote.find(']') - 1));
  in6_addr parsed{};
  // A scope ("%eth0") is no part of the address.
  if (inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &parsed) != 1) {
    return address;
  }
  char text[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
    inet_ntop(AF_INET, &parsed.s6_addr[12], text, sizeof(text));
    return text;
  }
  std::memset(&parsed.s6_addr[8], 0, 8);
  inet_ntop(AF_INET6, &parsed, text, sizeof(text));
  return fmt::format("{}/64", text);
}

std::string ConnectionSourceOf(std::string_view remote) {
  std::string source = SourceOf(remote);
  if (source.starts_with("127.")) source = "127.0.0.1";
  return source;
}

std::string_view ReasonOf(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

std::string ResponseHead(int status, const Headers& headers, const ResponseShape& shape) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", status, ReasonOf(status), HttpDate());
  AddHeaders(head, headers);
  if (shape.framing == Framing::kLength) {
    head += fmt::format("Content-Length: {}\r\n", shape.length);
  } else if (shape.framing == Framing::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  head += shape.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

HttpResponse ErrorResponse(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}};
  response.body = fmt::format(
      R"({{"error":{{"code":"{}","message":"{}","params":{{}},"details":[],"request_id":""}}}})",
      code, JsonText(message));
  return response;
}

std::string RequestText(const HttpRequest& request, std::string_view host,
                        std::optional<std::uint64_t> length) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  if (FindHeader(request.headers, "Host").empty()) text += fmt::format("Host: {}\r\n", host);
  AddHeaders(text, request.headers);
  if (length) {
    text += fmt::format("Content-Length: {}\r\n\r\n", *length);
    return text;
  }
  if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD")) {
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  text += "\r\n";
  text += request.body;
  return text;
}

}  // namespace muster::net
