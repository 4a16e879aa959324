#pragma once

#include "engine/auth/commands.hpp"
#include "engine/documents/commands.hpp"
#include "engine/hosts/commands.hpp"
#include "engine/keeping/commands.hpp"
#include "engine/kinds.hpp"
#include "engine/limiter/commands.hpp"
#include "engine/notices/commands.hpp"
#include "engine/runs/commands.hpp"
#include "engine/secrets/commands.hpp"
#include "engine/servers/commands.hpp"
#include "engine/triggers/commands.hpp"

// Everything that can change state reaches the engine as a command. Each room of the engine lists
// its commands; a command names its answer.
namespace muster::engine {

using AnyCommand =
    OneOf<RunCommands, HostCommands, TriggerCommands, DocumentCommands, LimiterCommands,
          SecretCommands, AuthCommands, NoticeCommands, ServerCommands, KeepingCommands>;

}  // namespace muster::engine
