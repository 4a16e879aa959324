#include "server/leading/stall_text.hpp"

#include <fmt/format.h>

namespace muster::server {

std::string StallText(std::string_view stalled, std::string_view folder) {
  if (stalled.contains("the database's disk is full")) return "the database's disk is full";
  if (!stalled.contains("disk is full"))
    return fmt::format("the store does not answer: {}", stalled);
  return folder.empty() ? "the server's disk is full"
                        : fmt::format("the server's disk is full ({})", folder);
}

}  // namespace muster::server
