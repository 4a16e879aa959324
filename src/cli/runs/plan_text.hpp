#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "cli/context.hpp"

namespace muster::cli {

// What a dry run says beside hosts and batches: which part of each zone, rack or whatever labels
// there are would be touched at once, and what would hold the start back. "" when nothing.
std::string SharesText(const boost::json::value& plan);
// "left out: 2 declared and never joined: db[1-2]"; "" when there are none.
std::string LeftOutText(const boost::json::value& plan);
std::string HindrancesText(const boost::json::value& plan);

// When a stage with batches opens no other: "roll fails when more than 0 fail in a batch, or …".
// `name` is the stage's, or whatever does that. "" without batches.
std::string LimitText(const boost::json::value& stage, std::string_view name);

// What the server warns of in an answer, on stderr.
void SayWarnings(const Context& context, const boost::json::value& answer);

// Tells the person which hosts a run was started without.
void SayLeftOut(const Context& context, const boost::json::value& started);

}  // namespace muster::cli
