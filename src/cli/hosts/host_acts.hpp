#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// What is decided about hosts. Each adds its commands below `agents` or `hosts`.
void AddAgentActs(CLI::App& agents, Context& context);  // pending, replace, reject, revoke
void AddHostActs(CLI::App& hosts, Context& context);    // label, rm, import, maintenance
void AddHostShow(CLI::App& hosts, Context& context);
void AddHostMaintenance(CLI::App& hosts, Context& context);
void AddHostsRemove(CLI::App& hosts, Context& context);
void AddHostsImport(CLI::App& hosts, Context& context);

}  // namespace muster::cli
