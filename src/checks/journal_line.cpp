#include <algorithm>

#include <boost/json.hpp>

#include "checks/journal.hpp"

namespace muster::checks {
namespace {

namespace json = boost::json;

// The fields of a line; remembers what was wrong with the first that was.
class Fields {
 public:
  explicit Fields(const json::object& object) : object_(object) {}

  bool Has(std::string_view name) const { return object_.contains(name); }
  std::string Text(std::string_view name) {
    const auto* value = object_.if_contains(name);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    Blame(name, "text");
    return {};
  }
  template <typename Number>
  Number Of(std::string_view name) {
    const auto* value = object_.if_contains(name);
    boost::system::error_code wrong;
    const auto number = value != nullptr ? value->to_number<Number>(wrong) : Number{};
    if (value == nullptr || wrong) Blame(name, "a number");
    return number;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void Blame(std::string_view name, std::string_view expected) {
    if (wrong_.empty()) wrong_ = fmt::format("{}: expected {}", name, expected);
  }

  const json::object& object_;
  std::string wrong_;
};

// Such names can be shown in a terminal as they are.
bool IsPlain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

TaskKey TaskOf(Fields& fields) {
  return {.run = RunId(fields.Of<std::uint64_t>("run")),
          .visit = Visit(fields.Of<std::uint32_t>("visit")),
          .ordinal = fields.Of<std::uint32_t>("ordinal"),
          .host = HostId(fields.Of<std::uint64_t>("host_id")),
          .attempt = Attempt(fields.Of<std::uint32_t>("attempt"))};
}

}  // namespace

Result<JournalEntry> ParseJournalLine(std::string_view line) {
  boost::system::error_code wrong;
  const json::value value = json::parse(line, wrong);
  if (wrong || !value.is_object())
    return Fail(ErrorCode::kInvalid, "not a line of a node's history");
  Fields fields(value.get_object());
  const std::string name = fields.Text("what");
  const auto what = link::ParseMomentKind(name);
  if (!what) return Fail(ErrorCode::kInvalid, "what: '{}' is not known", name);
  JournalEntry entry;
  entry.what = *what;
  entry.host = fields.Text("host");
  entry.store = fields.Text("store");
  entry.wall = WallTime{fields.Of<std::int64_t>("wall")};
  entry.term = Term(fields.Of<std::uint64_t>("term"));
  entry.session = fields.Of<std::uint64_t>("session");
  if (fields.Has("server_time")) entry.server_time = fields.Of<std::int64_t>("server_time");
  if (fields.Has("start_by")) entry.start_by = fields.Of<std::int64_t>("start_by");
  if (*what != link::MomentKind::kWelcomed) entry.task = TaskOf(fields);
  if (fields.Has("state")) {
    const auto state = ParseTaskState(fields.Text("state"));
    if (!state) return Fail(ErrorCode::kInvalid, "state: not a state of a task");
    entry.end = JournalEnd{.state = *state,
                           .exit_code = fields.Of<int>("exit_code"),
                           .signal = fields.Of<int>("signal")};
  }
  if (fields.wrong().empty() && !(IsPlain(entry.host) && IsPlain(entry.store)))
    return Fail(ErrorCode::kInvalid, "host, store: expected the names of a host and a data folder");
  if (!fields.wrong().empty()) return Fail(ErrorCode::kInvalid, "{}", fields.wrong());
  return entry;
}

}  // namespace muster::checks
