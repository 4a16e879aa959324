#pragma once

#include <functional>
#include <string>
#include <vector>

#include "domain/document.hpp"
#include "ports/store.hpp"
#include "server/api/call.hpp"

namespace muster::server::api {

// A page of a list of documents, and where the next one begins; "" is the end.
struct HeadsPage {
  std::vector<DocumentHead> heads;
  std::string next;
};

// The documents of a kind whose names are wanted, by name, from the call's `cursor` on, at most
// `limit`; without `wanted` all of them. Looks at every name: stores differ in how they sort names,
// so those that begin alike need not stand together.
Result<HeadsPage> FindHeads(Store& store, const Call& call, const std::string& kind,
                            std::size_t limit,
                            const std::function<bool(const std::string& name)>& wanted = {});

}  // namespace muster::server::api
