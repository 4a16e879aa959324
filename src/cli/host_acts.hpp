#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// What is decided about hosts. Each adds its commands below `agents` or `hosts`.
void AddAgentActs(CLI::App& agents, Context& context);  // pending, replace, reject, revoke
void AddHostActs(CLI::App& hosts, Context& context);    // label, rm, import, maintenance
void AddHostMaintenance(CLI::App& hosts, Context& context);
void AddHostsRemove(CLI::App& hosts, Context& context);
void AddHostsImport(CLI::App& hosts, Context& context);

// Asks a yes-or-no question at a terminal; true without one, and with `yes`. Where it would happen
// and the question mark are added to `question`.
bool Agreed(const Context& context, bool yes, const std::string& question);

}  // namespace muster::cli
