#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "documents/documents.hpp"
#include "domain/document.hpp"
#include "domain/run.hpp"
#include "ports/store.hpp"

namespace muster::server {

// A document that is kept, read again. kInternal when that fails: a musterd that takes less wrote
// it, and it has to be applied anew.
Result<documents::Document> ReadKept(const Document& kept);

// Jobs by name, as they are in the store, or will be when some documents are applied. Reads each
// once. `store` must outlive it.
class JobBook {
 public:
  struct Job {
    documents::JobDocument document;
    std::uint32_t version = 0;  // 0: not kept yet
    std::string by = {};        // who applied it
  };

  // Whether jobs of the store are kept with what their stages do on hosts. Without it PlanOf must
  // not be called.
  enum class Reads : std::uint8_t { kWhole, kWithoutCommands };

  explicit JobBook(Store& store, Reads reads = Reads::kWhole) : store_(store), reads_(reads) {}

  // From now on this is the job of its name; nullopt: there is none.
  void Set(const std::string& name, std::optional<documents::JobDocument> job);
  // From now on the job of this name is this version of it, if the job is still there. kNotFound:
  // the job is gone, or the version is.
  Result<> Pin(const std::string& name, std::uint32_t version);
  // nullptr when there is none; lives as long as the book.
  Result<const Job*> Find(const std::string& name);

  // Whether parameters that the job asks for may be left out, to look at a plan without starting
  // it.
  enum class Missing : std::uint8_t { kRefused, kAllowed };
  // The plan of a run of the job with these parameters and all the jobs it starts. kNotFound: there
  // is no such job. kInvalid: the parameters do not fit, jobs start each other in a circle or more
  // than kDeepestJobs levels deep, or it is larger than kMostPlanBytes. No more than that is read.
  Result<RunSpec> PlanOf(const std::string& name,
                         const std::vector<std::pair<std::string, std::string>>& params,
                         Missing missing = Missing::kRefused);

  // What the jobs take that were read from the store, which the book keeps.
  std::size_t BytesRead() const { return bytes_read_; }

  // Who applied the job and those it starts, as they are now. Of jobs that PlanOf has read.
  std::set<std::string> AuthorsOf(const std::string& name) const;

 private:
  // A plan and how many levels of jobs are below it.
  template <typename Plan>
  struct Level {
    Plan plan;
    std::size_t height = 0;
  };
  using ChildLevel = Level<std::shared_ptr<const RunSpec>>;

  Result<const Job*> Keep(const std::string& name, const std::optional<Document>& kept);
  Result<Level<RunSpec>> Pinned(const Job& job);
  Result<ChildLevel> Child(const std::string& name);

  Store& store_;
  Reads reads_;
  std::size_t bytes_read_ = 0;
  std::size_t bytes_of_plan_ = 0;  // of the one that PlanOf puts together, as far as it is
  std::map<std::string, std::unique_ptr<Job>> jobs_;
  std::map<std::string, ChildLevel> children_;
  std::vector<std::string> way_;  // the jobs that led here, to find circles
};

}  // namespace muster::server
