#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "domain/log.hpp"

namespace muster::cli {

// Turns pieces of output of many hosts into whole lines, so that lines of two hosts (or of the two
// streams of one host) never mix. A line that grows past a bound is handed over in parts, and so
// are all unfinished lines when they are too much together.
class LineJoiner {
 public:
  // `line` is without its newline.
  static constexpr std::size_t kLongestLine = 1 << 20;
  static constexpr std::size_t kMostUnfinished = 64 << 20;  // bytes of all hosts
  using OnLine = std::function<void(std::string_view host, Stream stream, std::string_view line)>;
  explicit LineJoiner(OnLine on_line) : on_line_(std::move(on_line)) {}

  void Add(std::string_view host, Stream stream, std::string_view bytes);
  // Hands over the unfinished last lines of `host`, if any: nothing more comes of it.
  void Finish(std::string_view host);
  void FinishAll();

 private:
  using Unfinished = std::map<std::pair<std::string, Stream>, std::string, std::less<>>;
  static std::size_t CostOf(const Unfinished::value_type& one);
  void Drop(Unfinished::iterator one);

  OnLine on_line_;
  Unfinished unfinished_;
  std::size_t cost_ = 0;  // of all that is unfinished
};

}  // namespace muster::cli
