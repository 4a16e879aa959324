#include "cli/runs/host_printer.hpp"

#include <utility>

namespace muster::cli {

HostPrinter::HostPrinter(const Terminal& terminal, bool single, bool all_to_stdout)
    : terminal_(terminal),
      single_(single),
      all_to_stdout_(all_to_stdout),
      lines_([this](std::string_view host, Stream stream, std::string_view line) {
        PutLine(host, stream, line);
      }) {}

void HostPrinter::Add(std::string_view host, Stream stream, std::string_view bytes) {
  const bool err = ToStderr(stream);
  if (Meets(err) && !bytes.empty()) mid_line_ = single_ && bytes.back() != '\n';
  if (single_)
    ready_[err] += streams_.try_emplace(err, IsTerminal(err)).first->second.Feed(bytes);
  else
    lines_.Add(host, stream, bytes);
  Flush();
}

void HostPrinter::Finish(std::string_view host) {
  lines_.Finish(host);
  for (auto& [err, single] : streams_) ready_[err] += single.Finish();
  Flush();
}

void HostPrinter::FinishAll() {
  lines_.FinishAll();
  Finish("");
  if (std::exchange(mid_line_, false)) Write(stderr, "\n");
}

void HostPrinter::PutLine(std::string_view host, Stream stream, std::string_view line) {
  const bool err = ToStderr(stream);
  const bool colour = err ? terminal_.colour_err : terminal_.colour_out;
  const auto paint = stream == Stream::kStderr ? Colour::kRed : Colour::kGreen;
  auto& ready = ready_[err];
  ready += OwnText(Paint(host, paint, colour) + " | ");
  ready += HostOutput(line, IsTerminal(err));
  ready += OwnText("\n");
}

void HostPrinter::Flush() {
  for (auto& [err, text] : ready_) {
    if (text.Empty()) continue;
    WriteOutput(err ? stderr : stdout, text);
    text.Clear();
  }
}

}  // namespace muster::cli
