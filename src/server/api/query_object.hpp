#pragma once

#include <map>
#include <string>
#include <string_view>

namespace muster::server::api {

// The object `name` in the query of a call's target: "name[a]=x&name[b]=y" gives a and b with their
// values, decoded. The router refuses queries with very many parameters beforehand.
std::map<std::string, std::string> QueryObject(std::string_view target, std::string_view name);

}  // namespace muster::server::api
