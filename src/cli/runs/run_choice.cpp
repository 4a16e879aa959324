#include "cli/runs/run_choice.hpp"

#include <algorithm>
#include <cctype>

#include <boost/json.hpp>

namespace muster::cli {

std::string RunIdOf(std::string_view text) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string id(text);
  if (id.empty()) return id;
  if (id.front() == 'R') id.front() = 'r';
  const bool number =
      digit(id.front()) && std::ranges::all_of(id, [&](char c) { return digit(c) || c == '.'; });
  return number ? "r" + id : id;
}

Error NoSuchRun(const Error& error, std::string_view given) {
  const bool id = !given.empty() && RunIdOf(given).starts_with('r') &&
                  given.find_first_not_of("rR0123456789.") == std::string_view::npos;
  const bool unknown = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kInvalid;
  if (id || given.empty() || !unknown) return error;
  return {error.code,
          fmt::format("{}; for runs of a job: muster runs --job {}", error.message, given)};
}

Result<boost::json::value> LastRun(ApiClient& api) {
  const auto page = api.Get("/runs", {{"by", "@me"}, {"limit", "100"}});
  if (!page) return Fail(page.error());
  const auto& runs = ListOf(*page, "runs");
  if (runs.empty())
    return Fail(ErrorCode::kNotFound, "you have started no run yet; see 'muster runs'");
  // Runs inside it are newer, and are not what the person started.
  for (const auto& run : runs)
    if (TextOf(run, "parent").empty()) return run;
  return api.Get("/runs/" + Segment(TextOf(runs.front(), "parent")));
}

Result<std::string> ChooseRunQuietly(ApiClient& api, std::string_view given) {
  if (!given.empty()) return RunIdOf(given);
  const auto run = LastRun(api);
  if (!run) return Fail(run.error());
  return TextOf(*run, "id");
}

Result<std::string> ChooseRun(const Context& context, ApiClient& api, std::string_view given) {
  if (!given.empty()) return RunIdOf(given);
  const auto run = LastRun(api);
  if (!run) return Fail(run.error());
  const auto id = TextOf(*run, "id");
  context.Say(fmt::format("{}, your last run: {}", id, TextOf(*run, "title")));
  return id;
}

}  // namespace muster::cli
