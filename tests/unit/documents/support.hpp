#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/documents.hpp"

namespace muster::documents {

// A file of the tree, by its path in it.
std::string FileText(const std::string& path);
std::vector<std::string> FilesIn(const std::string& folder);  // *.yaml, sorted, with the folder

// Script files beside the documents of the tree.
Result<std::string> ReadBeside(const std::string& document, const std::string& path);

// Documents of a file of the tree.
Reading ReadTreeFile(const std::string& path);

// Problems of a text as lines; "" when there are none.
std::string ProblemsOf(std::string_view text);

// The job of a text without problems.
JobDocument JobOf(std::string_view text);

// `body` under the head of a job `j` with its stages.
std::string JobWith(std::string_view body);

}  // namespace muster::documents
