#include <cstddef>
#include <cstdint>
#include <string>

#include "server/settings/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  muster::server::Config config;
  if (muster::server::ReadConfigText(text, "musterd.yaml", config)) {
    MUSTER_CHECK(config.limits.max_body > 0 && config.limits.max_connections > 0);
    MUSTER_CHECK(config.heartbeat >= muster::Duration(0));
  }
  (void)muster::server::ParseListen(text.substr(0, 100));
  return 0;
}
