#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/sse.hpp"
#include "cli/terminal/shown_text.hpp"
#include "cli/terminal/terminal_text.hpp"

namespace {

using namespace muster::cli;

std::vector<SseEvent> EventsOf(std::string_view bytes, std::size_t piece) {
  std::vector<SseEvent> events;
  SseParser parser;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    parser.Feed(bytes.substr(0, piece), [&](SseEvent event) {
      events.push_back(std::move(event));
      return true;
    });
  return events;
}

}  // namespace

// A stream means the same however it is cut, and nothing in it reaches a terminal as a control.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = EventsOf(bytes, size + 1);
  const auto split = EventsOf(bytes, 1 + size % 5);
  MUSTER_CHECK(whole.size() == split.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    MUSTER_CHECK(whole[i].id == split[i].id && whole[i].name == split[i].name &&
                 whole[i].data == split[i].data);
  for (const unsigned char c : muster::VisibleLine(bytes)) MUSTER_CHECK(c >= 0x20 || c == '\t');
  MUSTER_CHECK(OwnText(bytes).Bytes().find('\x1b') == std::string::npos ||
               bytes.find('\xff') != std::string_view::npos);
  MUSTER_CHECK(muster::IsUtf8(ForTerminal(bytes)));
  return 0;
}
