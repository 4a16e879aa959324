#pragma once

#include "documents/documents.hpp"
#include "domain/channel.hpp"

namespace muster::documents {

// The channel that a document makes; kInvalid as CheckChannel has it, for what the document's own
// rules let pass.
Result<Channel> ChannelOf(const ChannelDocument& document);

}  // namespace muster::documents
