#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/host.hpp"
#include "server/certificates/cluster_facts.hpp"

namespace muster::server {

// What a musterd that runs knows of CAs: its own, the other servers' and the hosts'. It keeps this
// as DATA/ca.state, so that `musterd ca` can refuse a step that would cut off servers or hosts.
struct CaState {
  std::string server;            // its name
  std::vector<std::string> cas;  // ids of those that it was started with; the one that signs first
  std::string trusts;            // the fact of a host that trusts all of them
  ClusterFacts cluster;          // the other servers, and the hosts
  WallTime written;
};

// Whether `now` is to be kept: it tells something else than `before`, or that one is some time old.
bool IsCaStateNews(const CaState& before, const CaState& now);

Result<> WriteCaState(const std::filesystem::path& data, const CaState& state);
// kNotFound: no musterd ran with this folder, or one of an earlier version.
Result<CaState> ReadCaState(const std::filesystem::path& data);

// Active hosts by what they say of their CAs. Those that say nothing are a group too: the server
// cannot know that they have the CA, so a step that needs it waits for them.
std::vector<HostsOfCa> GroupByCa(const std::vector<const Host*>& hosts);

// Whether a step of a change of the CA is safe now; kConflict says what stands against it and what
// to do. Ids are as in fact.ca.

// This server may make the next CA: no other one of its cluster has one that it does not know
// (`trusted`), and it is the one that should, so that two never make one each.
Result<> MayAddCa(const CaState& state, const std::vector<std::string>& trusted);
// `next` may sign: this server was started with it, and every server and host trusts it.
Result<> MayUseCa(const CaState& state, const std::string& next, WallTime now);
// `signer` may be the only one: every server signs with it, and every host is certified by it.
Result<> MayDropCas(const CaState& state, const std::string& signer, WallTime now);
// `former` may sign again: every server trusts it.
Result<> MayUndoCa(const CaState& state, const std::string& former, WallTime now);

}  // namespace muster::server
