#pragma once

#include <string>
#include <vector>

#include "documents/reference.hpp"
#include "domain/trigger.hpp"

// `kind: trigger`
namespace muster::documents {

struct Context;
struct Node;
struct Shape;

// What starts runs of a job, and when.
struct TriggerDocument {
  std::string name;
  std::string description;
  TriggerSpec spec;
  bool paused = false;  // how it begins its life; nothing to a trigger that is there
};

std::vector<Reference> ReferencesOf(const TriggerDocument& trigger);
std::vector<std::string> ZonesOf(const TriggerDocument& trigger);

const Shape& TriggerShape();
TriggerDocument BuildTrigger(const Context& context, const Node& root);

}  // namespace muster::documents
