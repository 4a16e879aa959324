#include "cli/host_printer.hpp"

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
  const bool tty = err ? terminal_.stderr_tty : terminal_.stdout_tty;
  if (!single_)
    lines_.Add(host, stream, bytes);
  else if (tty)
    ready_[err] += filters_[err].Feed(bytes);
  else
    ready_[err] += bytes;
  Flush();
}

void HostPrinter::Finish(std::string_view host) {
  lines_.Finish(host);
  for (auto& [err, filter] : filters_) ready_[err] += filter.Finish();
  Flush();
}

void HostPrinter::FinishAll() {
  lines_.FinishAll();
  Finish("");
}

void HostPrinter::PutLine(std::string_view host, Stream stream, std::string_view line) {
  const bool err = ToStderr(stream);
  const bool tty = err ? terminal_.stderr_tty : terminal_.stdout_tty;
  const bool colour = err ? terminal_.colour_err : terminal_.colour_out;
  std::string text = tty ? ForTerminal(line) : std::string(line);
  // A colour a host left on must not run into the next host's line.
  if (tty && text.find('\x1b') != std::string::npos) text += "\x1b[0m";
  const auto paint = stream == Stream::kStderr ? Colour::kRed : Colour::kGreen;
  ready_[err] += fmt::format("{} | {}\n", Paint(host, paint, colour), text);
}

void HostPrinter::Flush() {
  for (auto& [err, text] : ready_) {
    if (text.empty()) continue;
    Write(err ? stderr : stdout, text);
    text.clear();
  }
}

}  // namespace muster::cli
