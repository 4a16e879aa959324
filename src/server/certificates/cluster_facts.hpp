#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::server {

// What a server of the cluster said of itself, over a connection on which it proved to be one.
struct ServerFacts {
  std::string name;
  std::string url;               // how nodes reach it
  std::vector<std::string> cas;  // ids (fact.ca) of the CAs that it trusts; the one it signs with
                                 // first. None: it is of a version that does not say
  friend bool operator==(const ServerFacts&, const ServerFacts&) = default;
};

// Active hosts whose agents have a certificate of the same CA and trust the same CAs. Both are
// empty of hosts that never told: they were not connected yet, or do not renew.
struct HostsOfCa {
  std::string ca;      // fact.ca
  std::string trusts;  // fact.trusts
  std::uint64_t count = 0;
  std::string examples;  // names of the first few, "web1, web2"
  friend bool operator==(const HostsOfCa&, const HostsOfCa&) = default;
};

// What the leader knows of its cluster, and tells the servers that follow it.
struct ClusterFacts {
  std::vector<ServerFacts> servers;  // the leader first
  std::vector<HostsOfCa> hosts;      // only while more than one CA is trusted
  friend bool operator==(const ClusterFacts&, const ClusterFacts&) = default;
};

}  // namespace muster::server
