#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/kinds.hpp"
#include "documents/position.hpp"

// What people keep in files and apply: YAML documents with `apiVersion: muster/v1` and a `kind`.
// Reading is pure: the same texts give the same documents, and whatever is wrong with them is said
// at once, each with its place. docs/jobs/reference.md has every key.
namespace muster::documents {

struct Document {
  std::string file;   // it came from
  Position position;  // of its first key
  std::string text;   // its own, without the `---` lines around it
  Body body;
};

Kind KindOf(const Document& document) noexcept;
const std::string& NameOf(const Document& document) noexcept;

// The document as YAML: its own text, so that comments and order survive.
std::string Format(const Document& document);

// SHA-256 (32 bytes) of what the document says, its scripts and pushed files included. Two with the
// same hash are the same.
std::string ContentHash(const Document& document);

// A text with one or several documents, and what to call it in messages.
struct Source {
  std::string file;
  std::string text;
};

// Gives the content of a script file. `document` is Source::file, `path` is relative to it; it may
// hold "..", and links may stand in it: the reader keeps to its folder.
using ScriptReader =
    std::function<Result<std::string>(const std::string& document, const std::string& path)>;

struct Problem {
  std::string file;
  Position position;
  std::string sentence;
};
std::string Written(const Problem& problem);  // "jobs/web.yaml:7:5: unknown key …"

struct Reading {
  std::vector<Document> documents;  // those without problems, in order
  std::vector<Problem>
      problems;  // in order; at most kMaxProblems of a document and one that counts
};
constexpr std::size_t kMaxProblems = 20;
constexpr std::size_t kMaxDocumentBytes = 1 << 20;

// Reads documents that are applied together: two of one kind and name are a problem.
Reading ReadDocuments(std::span<const Source> sources, const ScriptReader& scripts);

// The same, all or nothing. kInvalid: one line for each problem.
Result<std::vector<Document>> ReadAll(std::span<const Source> sources, const ScriptReader& scripts);

}  // namespace muster::documents
