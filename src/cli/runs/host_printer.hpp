#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/terminal/line_joiner.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/shown_text.hpp"
#include "domain/log.hpp"

namespace muster::cli {

// Puts hosts' output on stdout, and their stderr on stderr: raw for a single host, else as lines
// "host | text". Bytes pass unchanged into a pipe and harmless onto a terminal. With
// `all_to_stdout` both streams go to stdout.
class HostPrinter {
 public:
  HostPrinter(const Terminal& terminal, bool single, bool all_to_stdout = false);
  HostPrinter(const HostPrinter&) = delete;
  HostPrinter& operator=(const HostPrinter&) = delete;

  void Add(std::string_view host, Stream stream, std::string_view bytes);
  // Nothing more comes of `host`: completes its unfinished last lines.
  void Finish(std::string_view host);
  // Where stdout and stderr meet, at a terminal or with 2>&1, what is printed next begins a line of
  // its own.
  void FinishAll();

 private:
  bool ToStderr(Stream stream) const { return stream == Stream::kStderr && !all_to_stdout_; }
  bool IsTerminal(bool err) const { return err ? terminal_.stderr_tty : terminal_.stdout_tty; }
  // Whether messages to stderr come behind what is written to this stream.
  bool Meets(bool err) const {
    return terminal_.one_output || (terminal_.stderr_tty && (err || terminal_.stdout_tty));
  }
  void PutLine(std::string_view host, Stream stream, std::string_view line);
  void Flush();

  Terminal terminal_;
  bool single_;
  bool all_to_stdout_;
  LineJoiner lines_;
  std::map<bool, HostStream> streams_;  // of the single host; by whether to stderr
  std::map<bool, ShownText> ready_;
  bool mid_line_ = false;  // where the next message will be
};

}  // namespace muster::cli
