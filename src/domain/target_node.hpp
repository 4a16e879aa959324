#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "domain/targets.hpp"

namespace re2 {
class RE2;
}

namespace muster {

// A parsed target expression: a tree whose leaves each say yes or no to a host.
struct TargetExpression::Node {
  enum class Kind {
    kAll,
    kNames,    // `values`, each of which must exist
    kPattern,  // `text` with * and ?
    kGroup,    // `text`
    kRun,      // `text` and `state`
    kLabel,    // label `text` has one of `values`
    kRegex,    // label `text` matches `regex`
    kNot,      // of the only child
    kAnd,
    kOr,
  };

  Kind kind = Kind::kAll;
  std::string text;
  std::string state;
  std::set<std::string, std::less<>> values;
  std::shared_ptr<const re2::RE2> regex;  // shared because its type is incomplete here
  std::vector<std::unique_ptr<Node>> children;
};

}  // namespace muster
