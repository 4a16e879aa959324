#include "server/gateway/frame_check.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace muster::server {
namespace {

// Also U+0080 to U+009F, which are two bytes.
void Soften(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F) text[i] = ' ';
    if (c != 0xC2 || i + 1 == text.size()) continue;
    if (static_cast<unsigned char>(text[i + 1]) < 0xA0) text[i] = text[i + 1] = ' ';
  }
}

Result<> CheckSize(std::string_view what, std::size_t size, std::size_t most) {
  if (size <= most) return {};
  return Fail(ErrorCode::kInvalid, "the node sent {}: {}, at most {} are taken", what, size, most);
}

Result<> CheckEnd(std::optional<TaskEnd>& end) {
  if (!end) return {};
  // Outputs of several hosts are put together line by line: one that holds a line could speak for
  // another host. An agent reads them from lines.
  for (const auto& [name, value] : end->outputs)
    if (value.find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
      return Fail(ErrorCode::kInvalid, "the node sent an output '{}' that is not one line of text",
                  name);
  Soften(end->reason);
  CutText(end->reason, link::kMostReasonBytes);
  return {};
}

Result<> CheckFacts(link::Hello& hello) {
  if (auto fits = CheckSize("facts", hello.facts.size(), kMostFacts); !fits) return fits;
  Labels facts;
  for (auto& [name, value] : hello.facts) {
    const auto longest = std::max(name.size(), value.size());
    if (auto fits = CheckSize("a long fact", longest, kMostFactBytes); !fits) return fits;
    std::string soft = name;
    Soften(soft);
    Soften(value);
    facts.emplace(std::move(soft), std::move(value));
  }
  hello.facts = std::move(facts);
  return {};
}

Result<> CheckHello(link::Hello& hello) {
  if (auto fits = CheckSize("tasks", hello.tasks.size(), kMostHeldTasks); !fits) return fits;
  if (auto fits = CheckFacts(hello); !fits) return fits;
  if (auto fits = CheckSize("features", hello.features.size(), kMostFeatures); !fits) return fits;
  for (auto& feature : hello.features) {
    Soften(feature);
    if (auto fits = CheckSize("a long feature", feature.size(), kMostWordBytes); !fits) return fits;
  }
  for (auto* word : {&hello.version, &hello.store, &hello.boot}) {
    Soften(*word);
    if (auto fits = CheckSize("a long word", word->size(), kMostWordBytes); !fits) return fits;
  }
  for (auto& held : hello.tasks)
    if (auto fits = CheckEnd(held.end); !fits) return fits;
  return {};
}

}  // namespace

Result<> CheckFrame(link::NodeFrame& frame) {
  if (frame.hello)
    if (auto fits = CheckHello(*frame.hello); !fits) return fits;
  if (auto fits = CheckSize("reports", frame.reports.size(), kMostReports); !fits) return fits;
  for (auto& report : frame.reports)
    if (auto fits = CheckEnd(report.end); !fits) return fits;
  return {};
}

}  // namespace muster::server
