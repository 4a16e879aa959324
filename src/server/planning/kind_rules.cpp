#include "server/planning/kind_rules.hpp"

#include <algorithm>

namespace muster::server {

const KindRules& RulesOf(documents::Kind kind) {
  static const KindRules rules[] = {JobRules(), HostRules(), GroupRules(), ChannelRules(),
                                    TriggerRules()};
  static const KindRules none{};
  const auto found = std::ranges::find(rules, kind, &KindRules::kind);
  return found == std::end(rules) ? none : *found;
}

}  // namespace muster::server
