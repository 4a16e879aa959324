#pragma once

#include <vector>

#include "cli/completion/completion.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// What fits, asking the server where that is needed: briefly, and with nothing as the answer when
// it does not know or cannot be reached. Values replace `wanted.text`, and begin with it.
std::vector<Candidate> CandidatesFor(Context& context, const Wanted& wanted);

}  // namespace muster::cli
