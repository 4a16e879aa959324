// For tests/differential. Reads lines and answers each with one:
//   EXPRESSION<tab>ZONE<tab>MILLISECONDS<tab>either|both    the next time after that moment in
//   milliseconds, or "none" ZONE<tab>MILLISECONDS                                   the zone's
//   offset then, in seconds
// and with a sentence when something is wrong.

#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cron/next.hpp"

namespace {

using namespace muster;

class Answers {
 public:
  Result<std::string> To(const std::string& line) {
    const auto words = Split(line, '\t');
    if (words.size() == 2) return Offset(words[0], words[1]);
    if (words.size() == 4) return NextTime(words);
    return Fail(ErrorCode::kInvalid, "expected two or four words");
  }

 private:
  static WallTime Moment(std::string_view text) {
    WallTime time;
    std::from_chars(text.data(), text.data() + text.size(), time.ms);
    return time;
  }

  Result<const cron::Zone*> ZoneOf(std::string_view word) {
    const std::string name(word);
    if (!zones_.contains(name)) {
      auto loaded = cron::LoadZone(name);
      if (!loaded) return Fail(loaded.error());
      zones_.emplace(name, std::move(*loaded));
    }
    return &zones_.at(name);
  }

  Result<std::string> Offset(std::string_view name, std::string_view moment) {
    const auto zone = ZoneOf(name);
    if (!zone) return Fail(zone.error());
    return std::to_string((*zone)->OffsetAt(Moment(moment)));
  }

  Result<std::string> NextTime(const std::vector<std::string_view>& words) {
    const auto schedule = cron::Parse(words[0], {.both_days = words[3] == "both"});
    if (!schedule) return Fail(cron::ToError(words[0], schedule.error()));
    const auto zone = ZoneOf(words[1]);
    if (!zone) return Fail(zone.error());
    const auto next = cron::Next(*schedule, **zone, Moment(words[2]));
    return next ? std::to_string(next->ms) : "none";
  }

  std::map<std::string, cron::Zone> zones_;
};

}  // namespace

int main() {
  Answers answers;
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = answers.To(line);
    std::puts(answer ? answer->c_str() : answer.error().message.c_str());
  }
  return 0;
}
