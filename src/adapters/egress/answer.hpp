#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ports/server_actions.hpp"

// What an answer makes of an action: pure, so that doubles judge as the real adapter does.
namespace muster::outside {

struct Answer {
  std::uint16_t status = 0;
  std::string body = {};
};

// `what` names the call in reasons. Statuses and outputs as the action says them; of an output that
// is a text its characters are taken, of anything else its JSON.
ServerOutcome JudgeHttp(const HttpAction& action, std::string_view what, Answer answer);

// What the condition looks at, as the output `value`; none when the answer lacks it or has null
// there. Any status is good when that is the value and none are expected.
ServerOutcome JudgeReading(const ConditionAction& action, std::string_view what, Answer answer);

// Any 2xx is good; of a chat also only when the answer does not say the opposite ({"ok": false} or
// an "errcode" other than 0, as some of them answer with status 200). Nothing of the answer is
// shown when the channel's url is a secret: it may name the host that it comes from.
ServerOutcome JudgeMessage(const ChannelMessage& message, std::string_view what, Answer answer);

// Replaces the masks in everything the outcome says, then cuts the output to its bound.
void Clean(ServerOutcome& outcome, const std::vector<std::string>& masks);

}  // namespace muster::outside
