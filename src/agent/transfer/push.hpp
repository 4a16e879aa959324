#pragma once

#include <functional>
#include <string>

#include "agent/transfer/courier.hpp"
#include "domain/command.hpp"

namespace muster::agent {

// What a transfer says: lines without their newline.
struct TransferOutput {
  std::function<void(const std::string& line)> out;
  std::function<void(const std::string& line)> err;
};

// Where a push puts its file, or its folder. kInvalid: the path is not absolute, or the name no
// name.
Result<std::string> PlaceOf(const FilePush& push);

// kInvalid: an entry of `push.files` would leave the folder that is pushed.
Result<> CheckBelow(const FileEntry& entry);

// Carries out a push for `user` ("" is the agent's own). `data` is the agent's data folder. The
// first file that cannot be put in its place ends it; those before it stay.
Result<> Push(const FilePush& push, const std::string& user, const std::string& data,
              Courier& courier, const TransferOutput& output);

}  // namespace muster::agent
