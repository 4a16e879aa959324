#pragma once

#include <map>
#include <string>

#include "domain/document.hpp"
#include "ports/store.hpp"

namespace muster::server::api {

// What jobs say of themselves, which stands in their documents: each is read once. For one thread
// at a time. `store` must outlive it.
class JobDescriptions {
 public:
  explicit JobDescriptions(Store& store) : store_(store) {}

  // "" when the job has none, cannot be read any more, or was deleted meanwhile.
  Result<std::string> Of(const DocumentHead& head);

 private:
  struct Known {
    std::string hash;
    std::string description;
  };

  Store& store_;
  std::map<std::string, Known> by_job_;
};

}  // namespace muster::server::api
