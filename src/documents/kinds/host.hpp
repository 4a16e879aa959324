#pragma once

#include <string>

#include "domain/host.hpp"

// `kind: host`
namespace muster::documents {

struct Context;
struct Node;
struct Shape;

struct HostDocument {
  std::string name;
  Labels labels;
};

const Shape& HostShape();
HostDocument BuildHost(const Context& context, const Node& root);

}  // namespace muster::documents
