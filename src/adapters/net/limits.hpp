#pragma once

#include <cstddef>

#include "base/instant.hpp"

namespace muster::net {

// What a server takes from outside before it says no: every number a stranger could otherwise drive
// up. docs/operating.md has the table for operators, under the same names.
struct ServerLimits {
  // Connections. All of them, links included; a file each, so there are fewer when the process may
  // open fewer files. The last tenth is for connections with a client certificate.
  std::size_t max_connections = 19'000;
  // Of one address (IPv6: one /64), counted from their first request. Links are not counted: their
  // certificate says who they are, and a thousand hosts may share one address behind a gateway.
  std::size_t max_connections_per_address = 1'000;
  // Connections between their first byte and their first request: handshakes in progress, mostly.
  // Others wait for a place, without a handshake; addresses with fewer places come first
  // (newcomers.hpp). While one waits, each has only crowded_timeout: so few that a busy server (400
  // handshakes a second) ends each in time. With 2,000 ten thousand links came back after three
  // minutes instead of half a one, as most were cut off and tried again.
  std::size_t max_handshakes = 500;

  // Requests.
  std::size_t max_url = 8 << 10;         // 414
  std::size_t max_header = 16 << 10;     // all lines together, 431
  std::size_t max_header_fields = 100;   // 431
  std::size_t max_body = 4 << 20;        // 413
  std::size_t max_open_body = 64 << 10;  // 413, of a request whose route needs no token
  // Bodies in memory, all requests together, from the head until the answer is out: 503. Requests
  // without a known caller get a quarter of it, so that they cannot take the room of the others.
  std::size_t max_buffered = 128 << 20;
  std::size_t max_stream_unsent = 16 << 20;  // an answer that is further behind its reader is cut
  // Answers that wait for their readers, all together: past it those that wait for most are cut.
  // None of 2 MiB or less is, as a file on its way has up to 1 MiB.
  std::size_t max_unsent = 256 << 20;
  // Of these, answers to callers without a certificate or token, with what the kernel keeps of
  // them: past it the largest are cut, whatever their size.
  std::size_t max_open_unsent = 64 << 20;

  // Links.
  std::size_t max_frame = 4 << 20;         // a longer one closes the link
  std::size_t max_link_unsent = 64 << 20;  // a node that reads so little is cut off

  // Times. All are for the whole step; a byte now and then buys nothing.
  Duration header_timeout = std::chrono::seconds(10);  // handshake; then a request's head
  Duration crowded_timeout = std::chrono::seconds(3);  // the same when crowded
  Duration body_timeout = std::chrono::seconds(60);
  Duration idle_timeout = std::chrono::seconds(75);  // keep-alive connections without a request
  // A reader has this long for what is being sent to it, and a second more for each least_rate
  // bytes of it.
  Duration write_timeout = std::chrono::seconds(30);
  std::size_t least_rate = 16 << 10;
  Duration link_silence = std::chrono::seconds(35);  // a link without a frame for so long is closed
};

}  // namespace muster::net
