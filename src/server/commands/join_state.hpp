#pragma once

#include <filesystem>
#include <string>

#include "adapters/crypto/box.hpp"
#include "base/result.hpp"

namespace muster::server {

// What `musterd join` keeps in the data folder, so that it can be repeated: DATA/join.state. Before
// it asks the leader, the keys that the answer is sealed for: the same join, asked again, comes
// with the same key, and the leader answers it again. Once the cluster's keys are there, only for
// which join they came.
struct JoinAttempt {
  std::string token;
  std::string name;  // of the server
};

inline constexpr const char* kJoinStateFile = "join.state";

// The keys of this join, made and kept if this is the first time. kInvalid: the file is damaged.
Result<crypto::BoxKeys> KeysOfJoin(const std::filesystem::path& data, const JoinAttempt& join);

// Notes in `folder`, beside the cluster's keys, that this join has ended. Its keys go.
Result<> NoteJoined(const std::filesystem::path& folder, const JoinAttempt& join);

// Whether the keys in this data folder came by this join.
bool HasJoined(const std::filesystem::path& data, const JoinAttempt& join);

}  // namespace muster::server
