#include "cli/runs/trace_text.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

std::uint64_t NumberIn(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Seen {
  std::string id;
  std::string parent;
  std::string name;
  std::string state;
  std::string note;  // behind the name
  bool task = false;
  std::uint64_t without = 0;  // of a run: tasks that have no spans
  WallTime start;
  WallTime end;  // zero: not yet
};

// Milliseconds of OTLP's nanoseconds, which are a number in a string.
WallTime TimeOf(const json::value& span, std::string_view field) {
  return {static_cast<std::int64_t>(NumberIn(TextOf(span, field)) / 1'000'000)};
}

std::map<std::string, std::string> AttributesOf(const json::value& span) {
  std::map<std::string, std::string> found;
  for (const auto& attribute : ListOf(span, "attributes")) {
    const auto& value = FieldOf(attribute, "value");
    const auto text = TextOf(value, "stringValue");
    found[TextOf(attribute, "key")] = text.empty() ? TextOf(value, "intValue") : text;
  }
  return found;
}

Seen See(const json::value& span) {
  auto about = AttributesOf(span);
  Seen seen{.id = TextOf(span, "spanId"),
            .parent = TextOf(span, "parentSpanId"),
            .name = TextOf(span, "name"),
            .state = about["muster.state"],
            .note = {},
            .task = about.contains("muster.attempt"),
            .without = NumberIn(about["muster.tasks_without_span"]),
            .start = TimeOf(span, "startTimeUnixNano"),
            .end = TimeOf(span, "endTimeUnixNano")};
  if (about.contains("muster.run")) {
    seen.name = fmt::format("{} {}", about["muster.run"], seen.name);
    if (about["muster.pass"] != "1") seen.note = fmt::format(" (pass {})", about["muster.pass"]);
  }
  if (about.contains("muster.child")) seen.note = fmt::format(" (is {})", about["muster.child"]);
  if (seen.task && about["muster.attempt"] != "1")
    seen.note = fmt::format(" (attempt {})", about["muster.attempt"]);
  if (seen.state == "failed" && about.contains("process.exit.code") &&
      about["process.exit.code"] != "0")
    seen.state += fmt::format(" (exit {})", about["process.exit.code"]);
  return seen;
}

class Tree {
 public:
  Tree(const json::value& trace, std::size_t tasks, WallTime now) : tasks_(tasks), now_(now) {
    for (const auto& resource : ListOf(trace, "resourceSpans"))
      for (const auto& scope : ListOf(resource, "scopeSpans"))
        for (const auto& span : ListOf(scope, "spans")) {
          if (out_.id.empty()) out_.id = TextOf(span, "traceId");
          spans_.push_back(See(span));
        }
    for (const auto& span : spans_) ids_[span.id] = &span;
    for (const auto& span : spans_) {
      const bool top = !ids_.contains(span.parent);
      children_[top ? "" : span.parent].push_back(&span);
      if (top && (!begin_ || span.start < begin_)) begin_ = span.start;
    }
  }

  TraceRows Rows() {
    for (const auto& span : spans_) {
      out_.whole = std::max(out_.whole, EndOf(span) - begin_);
      out_.without = std::max(out_.without, span.without);
    }
    Below("", 0);
    return std::move(out_);
  }

 private:
  WallTime EndOf(const Seen& span) const {
    return span.end ? span.end : std::max(now_, span.start);
  }

  void Below(const std::string& parent, std::size_t depth) {
    const auto found = children_.find(parent);
    if (found == children_.end() || depth > kDeepest) return;
    const auto own = std::exchange(found->second, {});  // once, whatever the answer says
    std::vector<const Seen*> shown;
    std::vector<const Seen*> tasks;
    for (const Seen* span : own) (span->task ? tasks : shown).push_back(span);
    const auto weight = [&](const Seen* span) {
      return std::pair(span->state == "succeeded", span->start - EndOf(*span));
    };
    std::ranges::stable_sort(tasks, {}, weight);
    const std::size_t left = tasks.size() > tasks_ ? tasks.size() - tasks_ : 0;
    tasks.resize(tasks.size() - left);
    shown.insert(shown.end(), tasks.begin(), tasks.end());
    std::ranges::stable_sort(shown, {}, [](const Seen* span) { return span->start; });
    for (const Seen* span : shown) {
      out_.rows.push_back({.what = std::string(2 * depth, ' ') + span->name + span->note,
                           .state = span->state,
                           .began = span->start - begin_,
                           .took = EndOf(*span) - span->start,
                           .ended = static_cast<bool>(span->end)});
      Below(span->id, depth + 1);
    }
    if (left > 0)
      out_.rows.push_back(
          {.what = fmt::format("{}… {} more", std::string(2 * depth, ' '), Count(left)),
           .state = {},
           .counts = false});
  }

  static constexpr std::size_t kDeepest = 64;

  std::size_t tasks_;
  WallTime now_;
  WallTime begin_;
  std::vector<Seen> spans_;
  std::map<std::string, const Seen*> ids_;
  std::map<std::string, std::vector<const Seen*>> children_;
  TraceRows out_;
};

}  // namespace

TraceRows RowsOfTrace(const json::value& trace, std::size_t tasks, WallTime now) {
  return Tree(trace, tasks, now).Rows();
}

std::string TraceBar(const TraceRow& row, Duration whole, std::size_t width) {
  if (!row.counts || width == 0) return "";
  const auto all = std::max<std::int64_t>(1, whole.count());
  const auto place = [&](Duration at) {
    const auto scaled = static_cast<double>(at.count()) / static_cast<double>(all);
    return static_cast<std::size_t>(std::clamp(scaled, 0.0, 1.0) * static_cast<double>(width));
  };
  const std::size_t from = std::min(place(row.began), width - 1);
  const std::size_t to = std::max(place(row.began + row.took), from + 1);
  return std::string(from, ' ') + std::string(to - from, row.ended ? '#' : '>');
}

}  // namespace muster::cli
