#pragma once

#include <string>

#include "domain/ids.hpp"

// Who hands in a command, and the answers that commands of several rooms give.
namespace muster::engine {

// Who asks, and where to send the answer.
struct Caller {
  RequestId request;
  std::string name;  // of the token
  std::string address;
  std::string client = {};  // what the caller said of its program
};

// The answer of a command that is not answered.
struct NoAnswer {};

// It is carried out; there is nothing more to say.
struct Done {};

struct KeyRefused {  // an Idempotency-Key that stands for something else, or for what is no more
  std::string why;
};

}  // namespace muster::engine
