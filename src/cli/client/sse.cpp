#include "cli/client/sse.hpp"

#include <utility>

namespace muster::cli {

bool SseParser::Feed(std::string_view bytes, const std::function<bool(SseEvent)>& on_event) {
  for (const char c : bytes) {
    if (TooLong()) return false;
    const bool second_half = c == '\n' && after_cr_;
    after_cr_ = c == '\r';
    if (second_half) continue;
    if (c != '\n' && c != '\r') {
      line_ += c;
      continue;
    }
    const std::string line = std::exchange(line_, "");
    if (!TakeLine(line, on_event)) return false;
  }
  return !TooLong();
}

bool SseParser::TakeLine(std::string_view line, const std::function<bool(SseEvent)>& on_event) {
  if (line.empty()) {
    SseEvent event{id_, name_.empty() ? "message" : std::exchange(name_, ""),
                   std::exchange(data_, "")};
    name_.clear();
    return !std::exchange(has_data_, false) || on_event(std::move(event));
  }
  const auto colon = line.find(':');
  const auto field = line.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") id_ = value;
  if (field == "event") name_ = value;
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  return true;
}

}  // namespace muster::cli
