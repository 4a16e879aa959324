#include "adapters/postgres/protection.hpp"

#include <algorithm>
#include <cstdlib>
#include <libpq-fe.h>
#include <memory>

#include "base/loopback.hpp"
#include "base/text.hpp"

namespace muster::postgres {
namespace {

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

Options ParsedOptions(const std::string& address) {
  char* problem = nullptr;
  Options options(PQconninfoParse(address.c_str(), &problem), PQconninfoFree);
  if (problem != nullptr) PQfreemem(problem);  // it repeats what it could not read
  return options;
}

// libpq's sockets: a folder, or an abstract name.
bool IsSocket(std::string_view host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@');
}

std::vector<std::string_view> ListOf(const Keywords& address, std::string_view keyword) {
  const auto found = address.find(keyword);
  if (found == address.end() || found->second.empty()) return {};
  return Split(found->second, ',');
}

// An '@' of a password that is not written as %40 ends it, and the rest of it becomes the host.
bool HoldsPassword(std::string_view host) {
  return !host.starts_with('/') && host.find('@', 1) != std::string_view::npos;
}

}  // namespace

Result<Keywords> KeywordsOf(const std::string& address) {
  const Options options = ParsedOptions(address);
  if (!options)
    return Fail(ErrorCode::kInvalid,
                "postgres: cannot read the address of the database; write it as "
                "postgres://USER@HOST:PORT/DATABASE, with special characters as %XX");
  Keywords keywords;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr && *option->val != '\0')
      keywords.emplace(option->keyword, option->val);
  if (keywords.contains("service"))
    return Fail(ErrorCode::kInvalid,
                "postgres: the address names a service; service files are not read: write host, "
                "dbname and sslmode into the address itself");
  if (std::ranges::any_of(ListOf(keywords, "host"), HoldsPassword))
    return Fail(ErrorCode::kInvalid,
                "postgres: there is an @ in the host of the database's address; write an @ of the "
                "password as %40");
  return keywords;
}

std::vector<std::string> DialledHosts(const Keywords& address) {
  const auto names = ListOf(address, "host");
  const auto numbers = ListOf(address, "hostaddr");
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < std::max({names.size(), numbers.size(), std::size_t{1}}); ++i) {
    const bool numbered = i < numbers.size() && !numbers[i].empty();
    const std::string_view name = i < names.size() ? names[i] : std::string_view();
    hosts.emplace_back(numbered ? numbers[i] : name);
  }
  return hosts;
}

std::string UnprotectedHost(const Keywords& address) {
  const auto mode = address.find("sslmode");
  if (mode != address.end() && (mode->second == "verify-ca" || mode->second == "verify-full"))
    return "";
  for (auto& host : DialledHosts(address))
    if (!IsSocket(host) && !IsLoopback(host)) return host;
  return "";
}

std::vector<std::string> DropEnvironment() {
  // Those without a keyword of their own.
  std::vector<std::string> known{"PGSERVICEFILE", "PGSYSCONFDIR", "PGREQUIRESSL", "PGDATESTYLE",
                                 "PGTZ",          "PGGEQO",       "PGLOCALEDIR"};
  const Options options = ParsedOptions("");
  for (const auto* option = options.get(); option != nullptr && option->keyword != nullptr;
       ++option)
    if (option->envvar != nullptr) known.emplace_back(option->envvar);
  std::vector<std::string> dropped;
  for (auto& name : known) {
    if (std::getenv(name.c_str()) == nullptr) continue;
    unsetenv(name.c_str());
    dropped.push_back(std::move(name));
  }
  return dropped;
}

}  // namespace muster::postgres
