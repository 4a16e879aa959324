#pragma once

#include <string_view>

namespace muster {

// Tells the service manager how this service is ("READY=1", "STATUS=…", lines apart), where one
// listens (NOTIFY_SOCKET, sd_notify(3)). Without one it does nothing.
void NotifyService(std::string_view state) noexcept;

}  // namespace muster
