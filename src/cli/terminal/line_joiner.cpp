#include "cli/terminal/line_joiner.hpp"

namespace muster::cli {

// A host with nothing but its name takes memory too.
std::size_t LineJoiner::CostOf(const Unfinished::value_type& one) {
  constexpr std::size_t kNode = 150;
  return kNode + one.first.first.size() + one.second.size();
}

void LineJoiner::Drop(Unfinished::iterator one) {
  cost_ -= CostOf(*one);
  unfinished_.erase(one);
}

void LineJoiner::Add(std::string_view host, Stream stream, std::string_view bytes) {
  const auto [place, is_new] = unfinished_.try_emplace({std::string(host), stream});
  if (!is_new) cost_ -= CostOf(*place);
  std::string& begun = place->second;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    begun += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    on_line_(host, stream, begun);
    begun.clear();
    bytes.remove_prefix(end + 1);
  }
  if (begun.size() >= kLongestLine) {
    on_line_(host, stream, begun);
    begun.clear();
  }
  cost_ += CostOf(*place);
  if (begun.empty()) Drop(place);
  if (cost_ > kMostUnfinished) FinishAll();
}

void LineJoiner::Finish(std::string_view host) {
  for (const auto stream : {Stream::kStdout, Stream::kStderr}) {
    const auto found = unfinished_.find(std::pair(std::string(host), stream));
    if (found == unfinished_.end()) continue;
    if (!found->second.empty()) on_line_(host, stream, found->second);
    Drop(found);
  }
}

void LineJoiner::FinishAll() {
  while (!unfinished_.empty()) Finish(std::string(unfinished_.begin()->first.first));
}

}  // namespace muster::cli
