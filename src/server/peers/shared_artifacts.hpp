#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"
#include "ports/artifacts.hpp"
#include "ports/coordinator.hpp"

namespace muster::server {

// Files of a cluster: each is kept by this server and by at least one more. What is not here is
// fetched from a server that has it, and then is here too. A file that no other server can take now
// is kept here alone, and the log says so. Calls may wait for the network, so they belong on
// workers.
class SharedArtifacts final : public ArtifactStore {
 public:
  struct Others {
    std::function<std::vector<Member>()> servers;  // the others that are there
    // For a call to the server of that name, which must prove to be it.
    std::function<net::TlsIdentity(const std::string& member)> identity;
  };

  // `own` must outlive it.
  SharedArtifacts(ArtifactStore& own, Others others) : own_(own), others_(std::move(others)) {}

  Result<std::optional<Artifact>> Find(const std::string& sha256) override;
  Result<std::unique_ptr<ArtifactReader>> Open(const std::string& sha256) override;
  Result<std::uint64_t> Uploaded(const std::string& sha256, const std::string& uploader) override {
    return own_.Uploaded(sha256, uploader);
  }
  Result<std::unique_ptr<ArtifactUpload>> Begin(const std::string& sha256,
                                                const std::string& uploader, std::uint64_t size,
                                                std::uint64_t offset) override;
  Result<std::vector<Artifact>> List(const std::string& after, std::size_t limit) override {
    return own_.List(after, limit);
  }
  Result<> Remove(const std::string& sha256) override { return own_.Remove(sha256); }
  Result<> DropUploads(WallTime moment) override { return own_.DropUploads(moment); }

 private:
  class Upload;

  // False: no other server has it. kUnavailable: it is being fetched for another caller.
  Result<bool> Fetch(const std::string& sha256);
  Result<> FetchFrom(const Member& server, const std::string& sha256);
  void Give(const std::string& sha256);
  Result<> GiveTo(const Member& server, const std::string& sha256);
  Result<net::HttpClient> Call(const Member& server) const;

  ArtifactStore& own_;
  const Others others_;
};

}  // namespace muster::server
