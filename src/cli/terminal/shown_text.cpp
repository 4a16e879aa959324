#include "cli/terminal/shown_text.hpp"

#include <algorithm>
#include <optional>

#include "base/visible.hpp"

namespace muster::cli {
namespace {

constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::size_t kMostColours = 128;

// Paint marks colours by a byte that no UTF-8 text has, and a digit. JSON of the server is checked
// to be UTF-8; a local file name that holds such a mark gets a colour, until its line ends.
constexpr char kMark = '\xFF';

constexpr std::string_view SequenceOf(char digit) {
  switch (static_cast<Colour>(digit - '0')) {
    case Colour::kNone:
      return kPlain;
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kBold:
      return "\x1b[1m";
  }
  return "";
}

std::string MarkOf(Colour colour) {
  return {kMark, static_cast<char>('0' + static_cast<int>(colour))};
}

// One line without its end.
std::string Coloured(std::string_view line) {
  std::string out;
  bool painted = false;
  while (!line.empty()) {
    const auto mark = line.find(kMark);
    out += VisibleLine(line.substr(0, mark));
    if (mark == std::string_view::npos) break;
    line.remove_prefix(mark + 1);
    const auto code = line.empty() ? std::string_view() : SequenceOf(line.front());
    out += code.empty() ? VisibleLine(std::string(1, kMark)) : std::string(code);
    if (code.empty()) continue;
    painted = code != kPlain;
    line.remove_prefix(1);
  }
  return painted ? out.append(kPlain) : out;
}

// How many bytes of `line` take at most so many columns; colours take none.
std::size_t Fitting(std::string_view line, std::size_t columns) {
  std::size_t width = 0;
  bool in_sequence = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
    if (line[i] == kPlain.front() || in_sequence)
      in_sequence = line[i] != 'm';
    else if (begins && width++ == columns)
      return i;
  }
  return line.size();
}

// Where a line of which `fits` bytes fit is broken; nothing when it has no blank.
std::optional<std::size_t> BreakOf(std::string_view line, std::size_t fits) {
  constexpr std::string_view kPartEnd = " · ";
  const auto begin = line.find_first_not_of(' ');
  const auto part = line.substr(0, fits + 1).rfind(kPartEnd);
  if (part != std::string_view::npos && part > fits / 3) return part + kPartEnd.size() - 1;
  auto blank = line.rfind(' ', fits);
  if (blank == std::string_view::npos || blank < begin) blank = line.find(' ', fits);
  if (blank == std::string_view::npos) return std::nullopt;
  return blank;
}

std::string BrokenLine(std::string_view line, std::size_t columns) {
  const auto begin = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(begin + 2, ' ');
  if (columns < 2 * indent.size()) return std::string(line);
  std::string out;
  for (auto room = columns; Fitting(line, room) < line.size(); room = columns - indent.size()) {
    const auto end = BreakOf(line, Fitting(line, room));
    if (!end) break;
    out += fmt::format("{}\n{}", line.substr(0, *end), indent);
    line.remove_prefix(std::min(line.find_first_not_of(' ', *end), line.size()));
  }
  return out.append(line);
}

}  // namespace

std::size_t ShownText::Rows(std::size_t columns) const {
  std::size_t rows = 0;
  std::size_t width = 0;
  bool in_sequence = false;
  const auto end_line = [&] {
    rows += columns == 0 || width == 0 ? 1 : (width + columns - 1) / columns;
    width = 0;
  };
  for (const char c : bytes_) {
    if (c == '\n') {
      end_line();
    } else if (c == kPlain.front() || in_sequence) {
      in_sequence = c != 'm';
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++width;
    }
  }
  if (width > 0) end_line();
  return rows;
}

ShownText ShownText::Broken(std::size_t columns) const {
  std::string out;
  for (std::string_view rest = bytes_; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out += BrokenLine(rest.substr(0, end), columns);
    if (end < rest.size()) out += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ShownText(std::move(out));
}

ShownText& ShownText::operator+=(const ShownText& more) {
  bytes_ += more.bytes_;
  return *this;
}

ShownText OwnText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out += Coloured(text.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return ShownText(std::move(out));
}

ShownText OwnLine(std::string_view line) { return ShownText(Coloured(line) + '\n'); }

ShownText CopiedText(std::string_view bytes, bool terminal) {
  return ShownText(terminal ? VisibleLines(bytes) : std::string(bytes));
}

ShownText HostOutput(std::string_view bytes, bool terminal) {
  if (!terminal) return ShownText(std::string(bytes));
  std::string text = ForTerminal(bytes);
  if (text.find('\x1b') != std::string::npos)
    text.insert(text.ends_with('\n') ? text.size() - 1 : text.size(), kPlain);
  return ShownText(std::move(text));
}

ShownText HostStream::Feed(std::string_view bytes) {
  return terminal_ ? Closed(filter_.Feed(bytes)) : ShownText(std::string(bytes));
}

ShownText HostStream::Finish() { return terminal_ ? Closed(filter_.Finish()) : ShownText(); }

ShownText HostStream::Closed(std::string text) {
  if (text.empty()) return {};
  const std::string before = colours_;
  for (auto at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at + 1)) {
    const auto sequence = text.substr(at, text.find('m', at) + 1 - at);
    if (sequence == kPlain || sequence == "\x1b[m" || colours_.size() > kMostColours)
      colours_.clear();
    if (sequence != kPlain && sequence != "\x1b[m") colours_ += sequence;
  }
  return ShownText(before + text + (colours_.empty() ? "" : std::string(kPlain)));
}

ShownText ClearedLine() { return ShownText("\r\x1b[K"); }

std::string Paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::kNone) return std::string(text);
  return MarkOf(colour) + VisibleLine(text) + MarkOf(Colour::kNone);
}

}  // namespace muster::cli
