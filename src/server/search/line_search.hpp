#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "domain/log.hpp"

namespace re2 {
class RE2;
}

namespace muster::server {

// A regular expression from outside, matched anywhere in a line, in time linear in the line
// whatever the expression is. Immutable and safe from any thread.
class SearchPattern {
 public:
  // kInvalid says what is wrong with it.
  static Result<SearchPattern> Of(const std::string& expression, bool ignore_case);
  bool Matches(std::string_view line) const;

 private:
  std::shared_ptr<const re2::RE2> regex_;  // shared because its type is incomplete here
};

// A line of one output. Lines are counted per stream, from 1.
struct FoundLine {
  Stream stream = Stream::kStdout;
  std::uint64_t number = 0;
  std::string text;    // without its newline
  bool match = false;  // false: it stands around one
  bool cut = false;    // a part of a line too long to hold
};

// Looks through one task's output, piece by piece, for lines that match. Holds an unfinished line
// and `context` earlier ones of each stream, never more. Not thread safe.
class LineSearch {
 public:
  static constexpr std::size_t kMostLine = 64 << 10;  // longer ones are looked at in parts

  using OnLine = std::function<void(FoundLine)>;
  LineSearch(const SearchPattern& pattern, std::size_t context, OnLine on_line)
      : pattern_(pattern), context_(context), on_line_(std::move(on_line)) {}

  void Add(Stream stream, std::string_view bytes);
  void Finish();  // the last lines may lack a newline

 private:
  struct State {
    std::string begun;
    std::uint64_t number = 1;      // of the line begun
    bool cut = false;              // parts of it were looked at
    std::deque<FoundLine> before;  // not given out
    std::size_t after = 0;         // lines still to give out after a match
  };
  void Take(Stream stream, State& state, std::string_view line, bool ends);

  const SearchPattern pattern_;
  const std::size_t context_;
  const OnLine on_line_;
  std::map<Stream, State> states_;
};

}  // namespace muster::server
