#pragma once

#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/secret_text.hpp"

namespace muster {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // "https://etcd1:2379"; http:// for loopback only

  std::string ca_pem = {};    // whom to believe; the system's CAs when empty
  std::string cert_pem = {};  // shown to etcd, with its key; none when empty
  std::string key_pem = {};
  std::string user = {};  // none when empty
  SecretText password = {};

  std::string prefix = "/muster/";  // of all keys; clusters that share an etcd differ in it

  // How long etcd waits for a leader that is silent. Whole seconds; etcd itself may raise it to one
  // and a half of its own election time-out (to 2 s as it comes).
  Duration lease = std::chrono::seconds(2);
  // For one request to one endpoint, at most a quarter of the lease; zero is a sixth of it, at most
  // 500 ms. Endpoints are tried in turn, and a leader has time for a round of them.
  Duration timeout = Duration(0);
};

}  // namespace muster
