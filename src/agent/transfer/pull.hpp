#pragma once

#include "agent/transfer/push.hpp"

namespace muster::agent {

// Carries out a pull with the rights of `user`: sends each file, then prints its line. What cannot
// be read is told, and the rest still comes; then the pull as a whole fails. Symbolic links inside
// a folder are told and not followed; one that was named itself is, within the rule of PathWalk.
Result<> Pull(const FilePull& pull, const std::string& user, Courier& courier,
              const TransferOutput& output);

}  // namespace muster::agent
