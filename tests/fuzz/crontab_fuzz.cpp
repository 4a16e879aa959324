#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "base/text.hpp"
#include "documents/documents.hpp"
#include "imports/crontab.hpp"

namespace {

using namespace muster;

Result<std::string> NoScript(const std::string&, const std::string& path) {
  return Fail(ErrorCode::kNotFound, "no {}", path);
}

// What comes out is a job and a paused trigger, under names of their own.
void Check(const imports::CrontabImport& import, std::ptrdiff_t lines) {
  std::set<std::string> names;
  std::size_t places = 0;
  for (const auto& trigger : import.triggers) {
    MUSTER_CHECK(names.insert(trigger.name).second);
    places += trigger.places.size();
    for (const auto& place : trigger.places) {
      MUSTER_CHECK(place.at.line >= 1 && place.at.line <= lines);
      MUSTER_CHECK(!imports::CommentOut(place).contains('\n'));
    }
    const documents::Source made{"made.yaml", imports::DocumentsOf(trigger)};
    const auto documents = documents::ReadAll({&made, 1}, NoScript);
    MUSTER_CHECK(documents && documents->size() == 2);
    MUSTER_CHECK(documents::NameOf(documents->front()) == trigger.name);
    const auto& read = std::get<documents::TriggerDocument>(documents->back().body);
    MUSTER_CHECK(read.paused && read.spec.cron == trigger.cron && read.spec.job == trigger.name);
  }
  MUSTER_CHECK(places <= import.lines);
  for (const auto& note : import.notes) MUSTER_CHECK(note.place.at.line <= lines);
  MUSTER_CHECK(!imports::ReportOf(import).empty());
}

}  // namespace

// A crontab of a user, one whose lines name their users, and what a host says of its crontabs:
// whatever the bytes are, nothing is dropped in silence.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = 1 + std::ranges::count(text, '\n');
  for (const auto* user : {"deploy", ""}) {
    const imports::CrontabFile file{
        .host = "web1", .path = "/etc/cron.d/x", .text = text, .user = user, .tz = "Europe/Berlin"};
    Check(imports::ReadCrontabs({&file, 1}, {}), lines);
  }
  const auto collected = imports::ReadCollected("web1", text);
  Check(imports::ReadCrontabs(collected.files, {}, collected.notes), lines);
  return 0;
}
