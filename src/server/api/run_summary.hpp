#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include "domain/run.hpp"
#include "server/live/live_view.hpp"

namespace muster::server::api {

// What a run came to, in less than 20 KB whatever its size: counts over hosts and over the tasks of
// all stages, and the stages that tell most (those under way, then those that did not go well, then
// the others) as far as there is room, in the order of the plan. Long texts are cut.
constexpr std::size_t kMostSummary = 19'000;  // bytes; the envelope has room beside it

boost::json::object SummaryView(const Run& run, const std::optional<LiveView::RunView>& live,
                                std::uint32_t logs_open, CommitNumber commit);

// The text as CutText leaves it.
std::string Clipped(std::string text, std::size_t most);

}  // namespace muster::server::api
