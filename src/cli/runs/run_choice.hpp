#pragma once

#include <string>
#include <string_view>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// The id a person means: "42" is r42. Anything else is left to the server to judge.
std::string RunIdOf(std::string_view text);

// The run a command is about: the one that was named; or else the caller's last, which is then said
// on stderr. kNotFound when the caller has started none. For a command that says so itself there is
// the quiet form.
Result<std::string> ChooseRun(const Context& context, ApiClient& api, std::string_view given);
Result<std::string> ChooseRunQuietly(ApiClient& api, std::string_view given);

// `error`, about a run that was named so: of a word that is no run's id it says how to find the
// runs of a job of that name.
Error NoSuchRun(const Error& error, std::string_view given);

// The caller's last run as the API tells it.
Result<boost::json::value> LastRun(ApiClient& api);

}  // namespace muster::cli
