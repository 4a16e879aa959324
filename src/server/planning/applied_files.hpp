#pragma once

#include <map>
#include <string>
#include <vector>

#include "documents/documents.hpp"
#include "domain/document.hpp"
#include "ports/artifacts.hpp"

// Files of documents that are applied together.
namespace muster::server {

// One file of YAML and what its documents refer to, by the paths they write.
struct AppliedFile {
  std::string file;
  std::string text;
  std::map<std::string, std::string> attachments;
  std::map<std::string, std::vector<FileEntry>> pushes;
};

struct ApplyRequest {
  std::vector<AppliedFile> files;
  std::map<std::string, std::size_t, std::less<>> places;  // in `files`, by their names
  bool dry_run = false;
  bool prune = false;
  std::string reason;
};

// Reads the documents of all files, with their scripts and pushed files in place.
documents::Reading ReadFiles(const ApplyRequest& request, ArtifactStore& artifacts);

// A document as it is to be kept, with those attachments of its file that it refers to.
Document KeptOf(const documents::Document& document, const ApplyRequest& request);

}  // namespace muster::server
