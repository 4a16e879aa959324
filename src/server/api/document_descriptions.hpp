#pragma once

#include <map>
#include <string>
#include <utility>

#include "domain/document.hpp"
#include "ports/store.hpp"

namespace muster::server::api {

// What documents say of themselves, for lists: each is read and parsed once. For one thread at a
// time. `store` must outlive it.
class DocumentDescriptions {
 public:
  // All is "" of what cannot be read any more, or was deleted meanwhile.
  struct Description {
    std::string type;  // how a channel notifies; "" of other kinds
    std::string text;  // at most 1000 bytes
  };

  explicit DocumentDescriptions(Store& store) : store_(store) {}

  // Of a job or a channel.
  Result<Description> Of(const DocumentHead& head);

 private:
  struct Known {
    std::string hash;
    Description description;
  };

  Store& store_;
  std::map<std::pair<std::string, std::string>, Known> known_;  // by kind and name
};

}  // namespace muster::server::api
