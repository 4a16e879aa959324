#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/documents/file_root.hpp"
#include "cli/files/local_files.hpp"
#include "documents/documents.hpp"

namespace muster::cli {

// YAML files to apply, and what their documents refer to.
struct DocumentFiles {
  struct File {
    documents::Source source;
    FileRoot root;                               // what its documents may read
    std::string folder;                          // its own, relative to the root; "" is the root
    std::map<std::string, std::string> scripts;  // by the paths the documents write
    std::map<std::string, CopyPlan> pushes;      // the same; not hashed yet
  };
  std::vector<File> files;
  std::vector<std::string> left_out;  // of what is pushed: a sentence for each link
  documents::Reading reading;
};

// What documents may refer to: files inside `root`; with "" inside the folder that was given, or
// that the given file is in, and none of documents from stdin.
struct DocumentAccess {
  std::string root = {};
  FileRules rules = {};
};

// Reads files, and folders with all *.yaml and *.yml below them, in the order of their names; "-"
// is stdin, whose documents are taken as if they were in the root. What begins with a dot below a
// folder is not looked at, unless the rules allow it. kInvalid, kNotFound, kDenied: one cannot be
// read. What is wrong with the documents, and with what they refer to, is in `reading`.
Result<DocumentFiles> ReadDocumentFiles(const std::vector<std::string>& paths,
                                        const DocumentAccess& access);

}  // namespace muster::cli
