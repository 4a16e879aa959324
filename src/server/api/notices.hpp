#pragma once

#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "server/live/channel_book.hpp"

// Notices that their channels did not take so far.
namespace muster::server::api {

// For /status: how many, and since when.
boost::json::object NoticesView(const ChannelBook& book);

// Those of a run.
boost::json::array NoticesView(const std::vector<ChannelBook::Undelivered>& notices);
// The same as sentences, for people.
void AddNoticeLines(const std::vector<ChannelBook::Undelivered>& notices, WallTime now,
                    boost::json::array& lines);

}  // namespace muster::server::api
