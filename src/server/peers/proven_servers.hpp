#pragma once

#include <map>
#include <string>
#include <vector>

#include "ports/coordinator.hpp"
#include "server/certificates/cluster_facts.hpp"

namespace muster::server {

// The servers of the cluster that proved to be one: to this server, or to the leader that it
// follows. Others can write into etcd, so the members there say who is present, and not where nodes
// find a server: nodes keep what they are told. Not thread-safe.
class ProvenServers {
 public:
  // Replaces what was known of this server. CAs that are not said leave the known ones.
  void Learn(ServerFacts facts);

  // nullptr when it has not proven itself.
  const ServerFacts* Find(const std::string& name) const;

  // Whether each of the members has, apart from `self`.
  bool All(const std::string& self, const std::vector<Member>& members) const;

  // URLs for nodes to know: of this server and of the members that have proven themselves, without
  // those that send nodes away, unless fewer than two are left.
  std::vector<std::string> Urls(const Member& self, const std::vector<Member>& members) const;

 private:
  std::map<std::string, ServerFacts> servers_;  // by name
};

}  // namespace muster::server
