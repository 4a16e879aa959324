#pragma once

#include "documents/fields.hpp"
#include "documents/shape.hpp"

// Triggers.
namespace muster::documents {

const Shape& TriggerShape();

// Of a document that was held against the table.
TriggerDocument BuildTrigger(const Context& context, const Node& root);

}  // namespace muster::documents
