#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/files/host_share.hpp"
#include "cli/files/target_folder.hpp"
#include "domain/pulled_line.hpp"

namespace muster::cli {

struct FetchedFile {
  std::string host;
  PulledLine line;
  std::string local;  // where it lies now
};

// What a host reports that it sent.
struct PulledList {
  std::vector<PulledLine> lines;  // at most one more than a host may send
  std::size_t unreadable = 0;     // lines that are not of this form
};

// Where a host's file is put below the target folder: HOST and its path there. Nothing for a path
// that would leave that folder.
std::optional<std::string> LocalNameOf(const std::string& host, const std::string& path);

// Brings pulled files from the artifact store into a folder, one folder for each host in it. Files
// of equal content travel once; those that are there already do not.
class FetchedFiles {
 public:
  FetchedFiles(ApiClient& api, TargetFolder folder) : api_(api), folder_(std::move(folder)) {}

  // The list of one host's task, by its output.
  Result<PulledList> ListOf(const std::string& run, const std::string& host);
  // Puts one file there, whole, if the host's share admits it.
  Result<FetchedFile> Bring(const std::string& host, const PulledLine& line, HostShare& share);

  std::uint64_t Bytes() const { return bytes_; }  // of all that was brought

 private:
  bool IsHere(const std::string& name, const PulledLine& line) const;
  // False: there is none.
  Result<bool> CopyKnown(const PulledLine& line, const std::string& name, int into);
  Result<> Download(const PulledLine& line, const std::string& name, int into);

  ApiClient& api_;
  const TargetFolder folder_;
  std::map<std::string, std::string> by_hash_;  // where a file of this content lies
  std::uint64_t bytes_ = 0;
};

}  // namespace muster::cli
