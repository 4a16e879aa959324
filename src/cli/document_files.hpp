#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "documents/documents.hpp"

namespace muster::cli {

// YAML files to apply, and what their documents refer to.
struct DocumentFiles {
  struct File {
    documents::Source source;
    std::map<std::string, std::string> scripts;  // by the paths the documents write
    std::map<std::string, std::string> pushes;   // the same, to paths on this machine
  };
  std::vector<File> files;
  documents::Reading reading;
};

// Reads files, and folders with all *.yaml and *.yml below them, in the order of their names; "-"
// is stdin. kInvalid, kNotFound: one cannot be read. What is wrong with the documents is in
// `reading`.
Result<DocumentFiles> ReadDocumentFiles(const std::vector<std::string>& paths);

}  // namespace muster::cli
