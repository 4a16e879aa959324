#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/files.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/ids.hpp"

// The agent's data folder: who this host is to its servers.
//
//   agent.conf  server(s), host, cluster, store, machine as `key = value` lines
//   servers     the cluster's servers, as one of them named them last; a URL a line
//   welcome     those of them that welcomed this host, the last one first; a URL a line
//   agent.key   the host's private key     agent.crt  its certificate     ca.pem  whom to trust
//   session     grows with each connection
//   proven_term the highest term ever obeyed, proven by a ticket. (`term` of earlier agents had
//               any number that a server named; it is not read.)
//   lock        held while an agent uses the folder
//   tasks/      what it runs (task_folder.hpp)
namespace muster::agent {

struct Identity {
  std::string server;        // URL, the first that was given
  std::string host;          // its name there
  std::string cluster;       // which it joined
  std::string store;         // random, made with the folder: a new folder is a new memory
  std::string machine;       // /etc/machine-id of where it was made; "" when that has none
  std::string servers = {};  // all that were given, with commas between; "" when it was one

  friend bool operator==(const Identity&, const Identity&) = default;
};

std::string FormatIdentity(const Identity& identity);
Result<Identity> ParseIdentity(std::string_view text);  // kInvalid names the line

// Where the cluster's servers are.
struct KnownServers {
  std::string seed;                       // the host's own, by which it chooses among them
  std::vector<std::string> given;         // at the join
  std::vector<std::string> told;          // by a server, last
  std::vector<std::string> welcome = {};  // they welcomed this host; the last one first
};
// From the data folder at `path`, without its lock. What was told is none when it cannot be read:
// what was given remains.
Result<KnownServers> LoadServers(const std::string& path);

// "https://a:8440, https://b:8440" as its parts, blanks and empty ones left out.
std::vector<std::string> SplitServers(std::string_view text);

struct Credentials {
  std::string key_pem;
  std::string cert_pem;
  std::string ca_pem;  // the cluster's CAs
};

class DataFolder {
 public:
  // Opens the folder, and makes it when it is missing. kConflict: another agent uses it, or it was
  // copied from another machine; kDenied: another user could change it. All say what to do.
  static Result<DataFolder> Open(const std::string& path,
                                 const std::string& machine_id_file = "/etc/machine-id");

  const std::string& Path() const noexcept { return path_; }
  const Identity& Who() const noexcept { return identity_; }

  // Whether it has joined a cluster.
  bool Joined() const;

  // The host's private key. Made and kept on the first call, before it is shown to anybody: a join
  // that is asked for again, also after a restart, is the same one.
  Result<std::string> OwnKey();

  // Whether its certificate is past its end; false when there is none that can be read.
  bool CertificateEnded(WallTime now) const;

  // Keeps what a join brought. The key is written first and the configuration last, so a crash in
  // between leaves a folder that has not joined. What servers told before is forgotten.
  Result<> SaveJoin(const std::vector<std::string>& servers, const std::string& host,
                    const std::string& cluster, const Credentials& credentials);
  Result<> SaveServers(const std::vector<std::string>& told);
  // The one that welcomed this host now. A few are kept.
  Result<> SaveWelcome(const std::string& server);
  Result<> SaveCertificate(const std::string& cert_pem);  // a renewed one
  Result<> SaveTrust(const std::string& ca_pem);          // whom to believe from now on
  Result<Credentials> LoadCredentials() const;

  // The number of the next connection, on disk (synced) before it is returned. It never comes
  // twice.
  Result<std::uint64_t> NextSession();

  Term HighestTerm() const noexcept { return term_; }
  Result<> RaiseTerm(Term term);  // harmless when it is not higher

 private:
  DataFolder() = default;
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }
  Result<> LoadIdentity(const std::string& machine);
  Result<std::uint64_t> LoadNumber(std::string_view name) const;
  Result<> SaveNumber(std::string_view name, std::uint64_t number) const;

  std::string path_;
  Fd lock_;
  Identity identity_;
  std::uint64_t session_ = 0;
  Term term_;
};

}  // namespace muster::agent
