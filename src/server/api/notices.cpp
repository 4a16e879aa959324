#include "server/api/notices.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

// Of a moment to come, in whole seconds.
std::string In(WallTime then, WallTime now) {
  const auto seconds = std::max<std::int64_t>(1, (then - now).count() / 1000);
  return FormatDuration(std::chrono::seconds(seconds));
}

}  // namespace

json::object NoticesView(const ChannelBook& book) {
  const auto sum = book.Sum();
  return {{"undelivered", sum.undelivered}, {"oldest", TimeView(sum.oldest)}};
}

json::array NoticesView(const std::vector<ChannelBook::Undelivered>& notices) {
  json::array list;
  for (const auto& notice : notices)
    list.push_back(json::object{{"channel", notice.channel},
                                {"state", notice.state},
                                {"made", TimeView(notice.made)},
                                {"attempts", notice.attempts},
                                {"next", TimeView(notice.next)},
                                {"reason", notice.trouble}});
  return list;
}

void AddNoticeLines(const std::vector<ChannelBook::Undelivered>& notices, WallTime now,
                    json::array& lines) {
  for (const auto& notice : notices)
    lines.emplace_back(fmt::format(
        "channel {} was not notified of '{}': {} {}{}; {}", notice.channel, notice.state,
        notice.attempts, notice.attempts == 1 ? "attempt failed" : "attempts failed",
        notice.trouble.empty() ? "" : ", the last one with: " + notice.trouble,
        notice.next > now ? fmt::format("next attempt in {}", In(notice.next, now))
                          : "the next attempt is due"));
}

}  // namespace muster::server::api
