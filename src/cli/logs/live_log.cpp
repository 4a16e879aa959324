#include "cli/logs/live_log.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"

namespace muster::cli {

void LiveLog::Print(const std::string& host, std::string_view stream, std::string_view bytes) {
  printer_.Add(host, stream == "stderr" ? Stream::kStderr : Stream::kStdout, bytes);
}

Result<> LiveLog::Add(const boost::json::value& event) {
  const auto host = TextOf(event, "host");
  const auto attempt = static_cast<std::uint32_t>(NumberOf(event, "attempt"));
  const auto offset = static_cast<std::uint64_t>(NumberOf(event, "offset"));
  const auto data = FromBase64(TextOf(event, "data_base64"));
  if (host.empty() || !data)
    return Fail(ErrorCode::kInternal, "the server sent a log event that cannot be read");
  LogCursor& cursor = cursors_[{host, attempt}];
  const auto offer = cursor.Take(offset, *data);
  if (offer.verdict == LogCursor::Verdict::kTake) Print(host, TextOf(event, "stream"), offer.fresh);
  if (offer.verdict != LogCursor::Verdict::kHole) return {};
  // Fetching gives the piece at hand as well, or an event after this one will.
  const auto done = CatchUp(host, attempt);
  if (!done) return Fail(done.error());
  return {};
}

Result<bool> LiveLog::CatchUp(const std::string& host, std::uint32_t attempt) {
  LogCursor& cursor = cursors_[{host, attempt}];
  while (true) {
    const auto from = cursor.Next();
    const auto part = api_.GetLog(
        run_,
        {{"host", host}, {"attempt", std::to_string(attempt)}, {"from", std::to_string(from)}});
    if (!part) return Fail(part.error());
    for (const auto& piece : part->pieces) {
      cursor.SkipTo(piece.offset);  // only past a gap in the kept log itself
      const auto offer = cursor.Take(piece.offset, piece.data);
      if (!offer.fresh.empty()) Print(host, piece.stream, offer.fresh);
    }
    if (cursor.Next() > from) continue;
    const bool closed = part->state != "open";
    if (closed) printer_.Finish(host);
    return closed;
  }
}

Result<> LiveLog::CatchUpAll() {
  Result<> outcome;
  const auto pages =
      api_.Pages(fmt::format("/runs/{}/tasks", Segment(run_)), {}, "tasks",
                 [&](const boost::json::value& task) {
                   const auto attempt = static_cast<std::uint32_t>(NumberOf(task, "attempt"));
                   if (attempt == 0) return true;
                   const auto& log = FieldOf(task, "log");
                   const auto host = TextOf(task, "host");
                   const auto known = cursors_.find({host, attempt});
                   const auto taken = known == cursors_.end() ? 0 : known->second.Next();
                   const bool whole = TextOf(log, "state") != "open" &&
                                      static_cast<std::uint64_t>(NumberOf(log, "bytes")) <= taken;
                   if (whole) {
                     printer_.Finish(host);
                     return true;
                   }
                   if (auto done = CatchUp(host, attempt); !done) outcome = Fail(done.error());
                   return outcome.has_value();
                 });
  if (!pages) return Fail(pages.error());
  return outcome;
}

}  // namespace muster::cli
