#pragma once

#include <chrono>
#include <string>

namespace muster {

// How to reach a PostgreSQL, and how long to wait for it.
struct PostgresOptions {
  // postgres://user@host:port/database?sslmode=verify-full&… or "host=… dbname=…", as libpq reads
  // it. What it says wins over the defaults below. Its password never shows in messages.
  std::string address;
  // Off loopback the address must have the server's certificate verified (sslmode=verify-ca or
  // verify-full), unless this says that people on the network may read and change all records.
  bool allow_unprotected = false;
  std::size_t readers = 4;                           // connections for reads at the same time
  std::chrono::seconds connect{3};                   // for each host that the address names
  std::chrono::milliseconds statement{30'000};       // one statement
  std::chrono::milliseconds lock{5'000};             // a lock that another session holds
  std::chrono::milliseconds idle_transaction{2000};  // an open transaction that says nothing
  std::chrono::milliseconds silence{5'000};          // bytes that a peer does not acknowledge
};

}  // namespace muster
