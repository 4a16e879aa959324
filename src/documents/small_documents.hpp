#pragma once

#include "documents/fields.hpp"

// Hosts, groups and channels, of documents that were held against the table.
namespace muster::documents {

HostDocument BuildHost(const Context& context, const Node& root);
GroupDocument BuildGroup(const Context& context, const Node& root);
ChannelDocument BuildChannel(const Context& context, const Node& root);

}  // namespace muster::documents
