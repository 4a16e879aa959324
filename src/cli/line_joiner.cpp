#include "cli/line_joiner.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

void LineJoiner::Add(std::string_view host, Stream stream, std::string_view bytes) {
  std::string& begun = unfinished_[{std::string(host), stream}];
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    begun += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    on_line_(host, stream, begun);
    begun.clear();
    bytes.remove_prefix(end + 1);
  }
  if (begun.size() < kLongestLine) return;
  on_line_(host, stream, begun);
  begun.clear();
}

void LineJoiner::Finish(std::string_view host) {
  for (const auto stream : {Stream::kStdout, Stream::kStderr}) {
    const auto found = unfinished_.find(std::pair(std::string(host), stream));
    if (found == unfinished_.end()) continue;
    if (!found->second.empty()) on_line_(host, stream, found->second);
    unfinished_.erase(found);
  }
}

void LineJoiner::FinishAll() {
  while (!unfinished_.empty()) Finish(std::string(unfinished_.begin()->first.first));
}

}  // namespace muster::cli
