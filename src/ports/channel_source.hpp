#pragma once

#include <string_view>

#include "base/result.hpp"
#include "domain/channel.hpp"

namespace muster {

// Where channels are found by name, as they are kept: secrets in them are names. Safe from any
// thread; may block on a read.
class ChannelSource {
 public:
  virtual ~ChannelSource() = default;

  // kNotFound: there is no such channel; the message says what to do.
  virtual Result<Channel> Find(std::string_view name) = 0;
};

// A server without channels.
class NoChannels final : public ChannelSource {
 public:
  Result<Channel> Find(std::string_view name) override {
    return Fail(ErrorCode::kNotFound,
                "there is no channel '{}'; make it with 'muster apply -f FILE'", name);
  }
};

}  // namespace muster
