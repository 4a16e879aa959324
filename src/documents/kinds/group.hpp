#pragma once

#include <string>
#include <vector>

#include "documents/reference.hpp"

// `kind: group`
namespace muster::documents {

struct Context;
struct Node;
struct Shape;

// Either an expression or names.
struct GroupDocument {
  std::string name;
  std::string description;
  std::string targets;
  std::vector<std::string> hosts;
};

std::vector<Reference> ReferencesOf(const GroupDocument& group);

const Shape& GroupShape();
GroupDocument BuildGroup(const Context& context, const Node& root);

}  // namespace muster::documents
