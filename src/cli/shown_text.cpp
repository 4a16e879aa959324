#include "cli/shown_text.hpp"

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
