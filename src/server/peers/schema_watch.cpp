#include "server/peers/schema_watch.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "link/version.hpp"

namespace muster::server {

std::vector<Member> OlderServers(const std::vector<Member>& servers) {
  std::optional<link::Version> newest;
  for (const auto& server : servers)
    newest = std::max(newest, link::Version::Parse(server.version));
  std::vector<Member> older;
  std::ranges::copy_if(servers, std::back_inserter(older), [&](const Member& server) {
    return link::Version::Parse(server.version) < newest;
  });
  return older;
}

SchemaWatch::SchemaWatch(Store& store, std::string version, Exits exits)
    : store_(store), version_(std::move(version)), exits_(std::move(exits)) {}

Result<> SchemaWatch::Look() {
  auto schema = store_.ReadSchema();
  if (!schema) return Fail(schema.error());
  const bool fits = schema->needed <= schema->known;
  exits_.unfit(fits ? std::string()
                    : fmt::format("too old for the store, which needs schema {}: musterd {} knows "
                                  "{}; install the version that the other servers run",
                                  schema->needed, version_, schema->known));
  base::Lock lock(mutex_);
  schema_ = std::move(*schema);
  return {};
}

SchemaWatch::View SchemaWatch::Get() const {
  View view{.schema = {}, .older = OlderServers(exits_.members())};
  base::Lock lock(mutex_);
  view.schema = schema_;
  return view;
}

}  // namespace muster::server
