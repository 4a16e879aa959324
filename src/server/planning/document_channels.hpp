#pragma once

#include "ports/channel_source.hpp"
#include "ports/store.hpp"

namespace muster::server {

// Channels as they were applied last.
class DocumentChannels final : public ChannelSource {
 public:
  explicit DocumentChannels(Store& store) : store_(store) {}

  Result<Channel> Find(std::string_view name) override;

 private:
  Store& store_;
};

}  // namespace muster::server
