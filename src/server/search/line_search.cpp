#include "server/search/line_search.hpp"

#include <utility>

#include <re2/re2.h>

namespace muster::server {
namespace {

constexpr std::int64_t kMostMemory = 4 << 20;  // of an expression and its automaton
constexpr std::size_t kMostExpression = 4 << 10;

}  // namespace

Result<SearchPattern> SearchPattern::Of(const std::string& expression, bool ignore_case) {
  if (expression.empty()) return Fail(ErrorCode::kInvalid, "re: say what to look for");
  if (expression.size() > kMostExpression)
    return Fail(ErrorCode::kInvalid, "re: longer than {} bytes", kMostExpression);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignore_case);
  options.set_max_mem(kMostMemory);
  SearchPattern pattern;
  pattern.regex_ = std::make_shared<const re2::RE2>(expression, options);
  if (!pattern.regex_->ok())
    return Fail(ErrorCode::kInvalid, "re: not a regular expression (RE2): {}",
                pattern.regex_->error());
  return pattern;
}

bool SearchPattern::Matches(std::string_view line) const {
  return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *regex_);
}

void LineSearch::Add(Stream stream, std::string_view bytes) {
  State& state = states_[stream];
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const bool ends = newline != std::string_view::npos;
    const std::string_view part = bytes.substr(0, newline);
    bytes.remove_prefix(ends ? newline + 1 : bytes.size());
    if (ends && state.begun.empty() && part.size() <= kMostLine) {
      Take(stream, state, part, true);
      continue;
    }
    for (std::size_t at = 0; at < part.size();) {
      const auto more = part.substr(at, kMostLine - state.begun.size());
      state.begun += more;
      at += more.size();
      if (state.begun.size() == kMostLine && (at < part.size() || !ends))
        Take(stream, state, std::exchange(state.begun, {}), false);
    }
    if (ends) Take(stream, state, std::exchange(state.begun, {}), true);
  }
}

void LineSearch::Finish() {
  for (auto& [stream, state] : states_)
    if (!state.begun.empty()) Take(stream, state, std::exchange(state.begun, {}), true);
}

void LineSearch::Take(Stream stream, State& state, std::string_view line, bool ends) {
  const bool cut = state.cut || !ends;
  state.cut = !ends;
  const bool match = pattern_.Matches(line);
  if (match || context_ > 0) {
    FoundLine found{stream, state.number, std::string(line), match, cut};
    if (match) {
      for (auto& earlier : state.before) on_line_(std::move(earlier));
      state.before.clear();
      state.after = context_;
      on_line_(std::move(found));
    } else if (state.after > 0) {
      --state.after;
      on_line_(std::move(found));
    } else {
      state.before.push_back(std::move(found));
      if (state.before.size() > context_) state.before.pop_front();
    }
  }
  if (ends) ++state.number;
}

}  // namespace muster::server
