#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/api_client.hpp"
#include "domain/pulled_line.hpp"

namespace muster::cli {

struct FetchedFile {
  std::string host;
  PulledLine line;
  std::string local;  // where it lies now
};

// Where a host's file is put: DIR/HOST and its path there. Nothing for a path that would leave that
// folder.
std::optional<std::string> LocalPathOf(const std::string& folder, const std::string& host,
                                       const std::string& path);

// Brings pulled files from the artifact store into a folder, one folder for each host in it. Files
// of equal content travel once; those that are there already do not.
class FetchedFiles {
 public:
  FetchedFiles(ApiClient& api, std::string folder) : api_(api), folder_(std::move(folder)) {}

  // The list of one host's task, by its output.
  Result<std::vector<PulledLine>> ListOf(const std::string& run, const std::string& host);
  // Puts one file there, whole, with the mode it had.
  Result<FetchedFile> Bring(const std::string& host, const PulledLine& line);

  std::uint64_t Bytes() const { return bytes_; }  // of all that was brought

 private:
  Result<> Download(const PulledLine& line, const std::string& part);

  ApiClient& api_;
  const std::string folder_;
  std::map<std::string, std::string> by_hash_;  // where a file of this content lies
  std::uint64_t bytes_ = 0;
};

}  // namespace muster::cli
