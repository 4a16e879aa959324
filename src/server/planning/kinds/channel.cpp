#include "server/planning/kind_rules.hpp"

namespace muster::server {
namespace {

// The audit trail says where channels send, and what goes with it.
Result<> PutChannel(Store& /*store*/, const documents::Document& document,
                    engine::ApplyDocuments& command) {
  const auto& channel = std::get<documents::ChannelDocument>(document.body);
  if (auto made = documents::ChannelOf(channel))
    command.channels.emplace(channel.name, std::move(*made));
  return {};
}

}  // namespace

KindRules ChannelRules() { return {.kind = documents::Kind::kChannel, .put = PutChannel}; }

}  // namespace muster::server
