#pragma once

#include "cli/context.hpp"

namespace muster::cli {

// import rundeck, import crontab: what other tools keep, as documents.
void AddImport(CLI::App& app, Context& context);
void AddImportCrontab(CLI::App& import, Context& context);

}  // namespace muster::cli
