#include "cli/confirm.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/question.hpp"
#include "cli/report.hpp"
#include "cli/terminal_text.hpp"

namespace muster::cli {
namespace {

constexpr std::uint64_t kMostUnasked = 50;  // hosts a person need not confirm

}  // namespace

bool Confirmed(const Context& context, std::string_view act, const boost::json::value& plan) {
  const auto hosts = static_cast<std::uint64_t>(NumberOf(plan, "hosts"));
  if (!FlagOf(plan, "says_all") && hosts <= kMostUnasked) return true;
  const auto answer = Ask(fmt::format(
      "{}\n{} on {} in {}? Type {} to go on: ", ForTerminal(TextOf(plan, "names"), true), act,
      Hosts(hosts), context.Where(), hosts));
  return answer && Trim(*answer) == std::to_string(hosts);
}

}  // namespace muster::cli
