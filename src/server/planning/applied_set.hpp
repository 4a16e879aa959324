#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/documents.hpp"
#include "ports/store.hpp"
#include "server/planning/job_book.hpp"

namespace muster::server {

using DocumentKey = std::pair<std::string, std::string>;  // kind and name

// The documents as they are once `puts` are applied and `drops` are gone, and what is wrong with
// them. Reads each kept document once. Errors are the store's.
class AppliedSet {
 public:
  // All outlive it.
  AppliedSet(Store& store, const std::vector<documents::Document>& puts,
             const std::set<DocumentKey>& drops);

  const std::vector<documents::Document>& Puts() const { return puts_; }
  const documents::Document* FindPut(const DocumentKey& key) const;
  // It is kept now, and will not be.
  bool IsDropped(const DocumentKey& key) const;
  Result<bool> IsThere(const DocumentKey& key);
  // What a document names; nothing when it is not there, or cannot be read any more.
  Result<std::vector<documents::Reference>> ReferencesOf(documents::Kind kind,
                                                         const std::string& name);
  JobBook& Jobs() { return book_; }
  Store& Kept() { return store_; }

  // Adds a problem, at the place of `word` behind `key` in the document.
  template <typename... Args>
  void Complain(const documents::Document& document, std::string_view key, std::string_view word,
                fmt::format_string<Args...> text, Args&&... args) {
    Put(document, key, word, fmt::format(text, std::forward<Args>(args)...));
  }
  // "; did you mean …?" of a document that is not there, for the first few.
  std::string NearName(documents::Kind kind, const std::string& name);

  std::vector<documents::Problem> TakeProblems() && { return std::move(problems_); }

 private:
  void Put(const documents::Document& document, std::string_view key, std::string_view word,
           std::string sentence);

  Store& store_;
  const std::vector<documents::Document>& puts_;
  const std::set<DocumentKey>& drops_;
  JobBook book_;
  std::map<DocumentKey, const documents::Document*> given_;
  std::map<DocumentKey, bool> kept_;  // looked up once, however many documents name them
  std::vector<documents::Problem> problems_;
  std::size_t hints_ = 0;
};

}  // namespace muster::server
