#include "cli/terminal/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <boost/json/array.hpp>

#include "base/visible.hpp"

namespace muster::cli {
namespace {

// Characters a terminal shows, roughly: bytes that begin one.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The first characters of `text`, `width` columns with the mark of what is left out.
std::string Cut(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && ++shown == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

bool IsOneOutput() {
  struct stat out{};
  struct stat err{};
  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

// Columns of stderr; 0 when it is no terminal, or one of unknown width.
std::size_t MessageColumns() {
  winsize size{};
  if (isatty(STDERR_FILENO) != 1 || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

struct Aftermath {
  std::string what;
  bool goes_on = false;
};

// Of the process, as its stdout is.
Aftermath& Remembered() {
  static Aftermath aftermath;
  return aftermath;
}

[[noreturn]] void EndUnwritten(std::string_view stream, int problem) {
  constexpr int kBrokenPipe = 128 + 13;
  const auto aftermath = std::exchange(Remembered(), {});
  if (problem != EPIPE)
    WriteMessage(fmt::format("muster: cannot write to {}: {}{}{}\n", stream, std::strerror(problem),
                             aftermath.what.empty() ? "" : "; ", aftermath.what));
  else if (aftermath.goes_on)
    WriteMessage(OwnLine(aftermath.what));
  _exit(problem == EPIPE ? kBrokenPipe : kExitUnwritten);
}

}  // namespace

void HoldStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // Opened the wrong way round, so that using it fails as it does on a closed one.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void StaysDone(std::string what, bool goes_on) { Remembered() = {std::move(what), goes_on}; }

Terminal Terminal::Detect(std::string_view colour) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colours = colour != "never" && (no_colour == nullptr || *no_colour == '\0');
  const bool always = colour == "always";
  Terminal terminal;
  terminal.stdin_tty = isatty(STDIN_FILENO) == 1;
  terminal.stdout_tty = isatty(STDOUT_FILENO) == 1;
  terminal.stderr_tty = isatty(STDERR_FILENO) == 1;
  terminal.one_output = IsOneOutput();
  terminal.colour_out = always || (terminal.stdout_tty && colours);
  terminal.colour_err = always || (terminal.stderr_tty && colours);
  winsize size{};
  if (terminal.stdout_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  return terminal;
}

bool WriteToReader(std::FILE* file, const ShownText& text) {
  const auto& bytes = text.Bytes();
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
}

void Write(std::FILE* file, const ShownText& text) {
  if (WriteToReader(file, text)) return;
  const int problem = errno;
  if (file == stdout || problem == EPIPE) EndUnwritten("stdout", problem);
}

void WriteOutput(std::FILE* file, const ShownText& text) {
  if (WriteToReader(file, text)) return;
  const int problem = errno;
  if (file == stdout || problem != EBADF)
    EndUnwritten(file == stdout ? "stdout" : "stderr", problem);
}

void WriteMessage(const ShownText& text) {
  if (const auto columns = MessageColumns(); columns > 0)
    Write(stderr, text.Broken(columns));
  else
    Write(stderr, text);
}

void WriteMessage(std::string_view text) { WriteMessage(OwnText(text)); }

void Write(std::FILE* file, std::string_view text) { Write(file, OwnText(text)); }

void WriteCopy(std::FILE* file, std::string_view bytes) {
  Write(file, CopiedText(bytes, isatty(fileno(file)) == 1));
}

Colour ColourOf(std::string_view state) {
  if (state == "succeeded" || state == "online" || state == "complete") return Colour::kGreen;
  if (state == "running" || state == "sent" || state == "queued" || state == "paused" ||
      state == "skipped" || state == "cancelled" || state == "open" || state == "awaiting approval")
    return Colour::kYellow;
  if (state == "waiting" || state == "created") return Colour::kDim;
  return Colour::kRed;
}

std::string Count(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string Hosts(std::uint64_t number) {
  return Count(number) + (number == 1 ? " host" : " hosts");
}

std::string Lasted(Duration duration) {
  // A run that took 3 ms took some time.
  constexpr std::int64_t kLeast = 10;
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("0.{:02} s", ms <= 0 ? 0 : std::max(ms, kLeast) / 10);
  return LastedExactly(duration);
}

std::string LastedExactly(Duration duration) {
  const auto ms = std::max<std::int64_t>(0, duration.count());
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const auto seconds = ms / 1000;
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
}

std::string Ago(WallTime then, WallTime now) {
  if (!then) return "never";
  const auto seconds = std::max<std::int64_t>(0, (now - then).count() / 1000);
  if (seconds < 120) return fmt::format("{}s ago", seconds);
  if (seconds < 7200) return fmt::format("{}m ago", seconds / 60);
  if (seconds < 172'800) return fmt::format("{}h ago", seconds / 3600);
  return fmt::format("{}d ago", seconds / 86'400);
}

WallTime WallNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

void Table::Fit(std::size_t width, std::vector<std::size_t> flexible) {
  width_ = width;
  flexible_ = std::move(flexible);
}

void Table::Shorten(Rows& cells, std::vector<std::size_t>& widths) const {
  constexpr std::size_t kLeast = 8;
  for (std::size_t i = widths.size(); i-- > 0;) {
    const bool empty = std::ranges::all_of(cells.begin() + 1, cells.end(), [&](const auto& row) {
      return i >= row.size() || row[i].empty();
    });
    if (empty && cells.size() > 1) widths[i] = 0;
  }
  std::size_t total = 0;
  for (const auto width : widths) total += width == 0 ? 0 : width + 2;
  total -= 2;
  for (std::size_t n = flexible_.size(); n-- > 0 && total > width_;) {
    auto& width = widths[flexible_[n]];
    const auto least = std::min(width, kLeast);
    const auto less = std::min(width - least, total - width_);
    width -= less;
    total -= less;
  }
  for (auto& row : cells)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      if (Width(row[i]) > widths[i]) row[i] = widths[i] == 0 ? "" : Cut(row[i], widths[i]);
}

std::string Table::Text(bool colour, int state_column) const {
  Rows cells = rows_;
  std::vector<std::size_t> widths(rows_.front().size());
  for (auto& row : cells) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      row[i] = VisibleLine(row[i]);
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  if (width_ > 0) Shorten(cells, widths);
  std::string out;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < cells[r].size(); ++i) {
      if (widths[i] == 0) continue;
      const auto& cell = cells[r][i];
      const Colour paint = r == 0                                ? Colour::kBold
                           : static_cast<int>(i) == state_column ? ColourOf(cell)
                                                                 : Colour::kNone;
      line += Paint(cell, paint, colour);
      line.append(widths[i] - Width(cell) + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

}  // namespace muster::cli
