#pragma once

#include <string>
#include <string_view>

#include "ports/store.hpp"

namespace muster::server {

// The end of a sentence about a document that is not there: "; did you mean nightly?", or "" when
// no name of its kind is near. Looks at the first 5,000 names; an error of the store is no hint.
std::string DidYouMean(Store& store, std::string_view kind, std::string_view name);

// The same of a secret.
std::string DidYouMeanSecret(Store& store, std::string_view name);

}  // namespace muster::server
