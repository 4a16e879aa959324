#include "server/api/caller.hpp"

#include "base/text.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostClient = 200;

}  // namespace

engine::Caller CallerOf(const Call& call) {
  const std::string_view client = net::FindHeader(call.request().headers, "User-Agent");
  std::string kept(client.substr(0, kMostClient));
  if (!IsUtf8(kept)) kept = "(not text)";
  return {{}, call.actor().name, call.request().remote, std::move(kept)};
}

}  // namespace muster::server::api
