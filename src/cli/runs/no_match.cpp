#include "cli/runs/no_match.hpp"

#include <boost/json.hpp>

namespace muster::cli {

Error NamedNoMatch(ApiClient& api, const Error& error, const std::string& targets) {
  constexpr std::string_view kNoMatch = "no host matches";
  if (error.code != ErrorCode::kNotFound || !error.message.starts_with(kNoMatch)) return error;
  const auto hosts = api.Get("/hosts", {{"limit", "1"}});
  if (hosts && ListOf(*hosts, "hosts").empty())
    return {error.code, "no host has joined yet; let one join: muster agents invite"};
  if (targets.empty()) return error;
  return {error.code,
          fmt::format("{} '{}'{}", kNoMatch, targets, error.message.substr(kNoMatch.size()))};
}

}  // namespace muster::cli
