#include "cli/terminal/confirm.hpp"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/plan_text.hpp"
#include "cli/terminal/question.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMostUntyped = 50;  // things whose number need not be typed
constexpr std::array<std::string_view, 5> kYes{"y", "Y", "yes", "Yes", "YES"};

bool AnswersWith(const Context& context, const Question& question) {
  std::vector<std::string> above;
  if (!question.names.empty()) above.push_back(question.names);
  above.insert(above.end(), question.notes.begin(), question.notes.end());
  const bool typed = question.all || question.count > kMostUntyped;
  const auto number = std::to_string(question.count);
  const auto answer = Ask(fmt::format("{} in {}? {} ", question.act, context.Where(),
                                      typed ? fmt::format("Type {} to go on:", number) : "[y/N]"),
                          above);
  if (!answer) return false;
  const auto word = Trim(*answer);
  return typed ? SaysNumber(word, question.count) : std::ranges::find(kYes, word) != kYes.end();
}

}  // namespace

Result<bool> Agreed(const Context& context, ApiClient& api, bool yes, Role least,
                    const Question& question) {
  if (yes || !context.CanAsk()) return true;
  if (auto may = CheckRole(context, api, yes, least); !may) return Fail(may.error());
  if (AnswersWith(context, question)) return true;
  context.Say("nothing was done");
  return false;
}

Result<bool> AgreedOnHosts(const Context& context, ApiClient& api, bool yes, Role least,
                           const std::string& targets, std::string_view before,
                           std::string_view after, std::vector<std::string> notes) {
  if (yes || !context.CanAsk()) return true;
  const auto found = Persist(context, kPatience, [&] {
    return api.Post("/hosts/resolve", json::object{{"targets", targets}});
  });
  if (!found) return Fail(found.error());
  const auto hosts = static_cast<std::uint64_t>(NumberOf(*found, "count"));
  return Agreed(
      context, api, yes, least,
      {.act = fmt::format("{} {}{}{}", before, Hosts(hosts), after.empty() ? "" : " ", after),
       .count = hosts,
       .all = FlagOf(*found, "says_all"),
       .names = TextOf(*found, "names"),
       .notes = std::move(notes)});
}

Result<bool> AgreedToStart(const Context& context, ApiClient& api, bool yes,
                           const std::string& path, json::object body,
                           const std::function<std::string(const json::value& plan)>& act) {
  if (yes || !context.CanAsk()) return true;
  body["dry_run"] = true;
  const auto plan = Persist(context, kPatience, [&] { return api.Post(path, body); });
  if (!plan) return Fail(plan.error());
  if (Confirmed(context, act(*plan), *plan)) return true;
  context.Say("nothing was started");
  return false;
}

Result<> CheckRole(const Context& context, ApiClient& api, bool yes, Role least) {
  if (yes || !context.CanAsk()) return {};
  const auto me = Persist(context, kPatience, [&] { return api.Get("/whoami"); });
  if (!me) return Fail(me.error());
  const auto role = ParseRole(TextOf(*me, "role"));
  if (!role || *role >= least) return {};
  return Fail(ErrorCode::kDenied, "this needs the role {}; token '{}' is {}", Name(least),
              TextOf(*me, "name"), Name(*role));
}

bool Confirmed(const Context& context, std::string_view act, const json::value& plan) {
  const auto hosts = static_cast<std::uint64_t>(NumberOf(plan, "hosts"));
  const bool all = FlagOf(plan, "says_all");
  if (!all && hosts <= kMostUntyped) return true;
  std::vector<std::string> notes;
  if (auto text = LeftOutText(plan); !text.empty()) notes.push_back(std::move(text));
  for (const auto& line : ListOf(plan, "hindrances"))
    if (line.is_string())
      notes.push_back(fmt::format("but: {}", std::string_view(line.get_string())));
  return AnswersWith(context, {.act = fmt::format("{} on {}", act, Hosts(hosts)),
                               .count = hosts,
                               .all = all,
                               .names = TextOf(plan, "names"),
                               .notes = std::move(notes)});
}

}  // namespace muster::cli
