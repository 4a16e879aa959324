// Reads lines of "EXPRESSION<tab>ZONE<tab>MILLISECONDS<tab>either|both" and prints, for each, the
// next time after that moment in milliseconds, "none", or what is wrong. For tests/differential.

#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "base/text.hpp"
#include "cron/next.hpp"

namespace {

using namespace muster;

Result<std::optional<WallTime>> Answer(const std::string& line,
                                       std::map<std::string, cron::Zone>& zones) {
  const auto words = Split(line, '\t');
  if (words.size() != 4) return Fail(ErrorCode::kInvalid, "expected four words");
  const auto schedule = cron::Parse(words[0], {.both_days = words[3] == "both"});
  if (!schedule) return Fail(cron::ToError(words[0], schedule.error()));
  const std::string name(words[1]);
  if (!zones.contains(name)) {
    const auto loaded = cron::LoadZone(name);
    if (!loaded) return Fail(loaded.error());
    zones.emplace(name, *loaded);
  }
  WallTime after;
  std::from_chars(words[2].data(), words[2].data() + words[2].size(), after.ms);
  return cron::Next(*schedule, zones.at(name), after);
}

}  // namespace

int main() {
  std::map<std::string, cron::Zone> zones;
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = Answer(line, zones);
    if (!answer)
      std::printf("%s\n", answer.error().message.c_str());
    else if (!*answer)
      std::printf("none\n");
    else
      std::printf("%lld\n", static_cast<long long>((*answer)->ms));
  }
  return 0;
}
