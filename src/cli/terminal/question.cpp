#include "cli/terminal/question.hpp"

#include <array>
#include <cstdio>
#include <unistd.h>

#include "base/visible.hpp"
#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

// The terminal itself; stderr when there is none to open.
class Screen {
 public:
  Screen() : terminal_(std::fopen("/dev/tty", "we")) {}
  ~Screen() {
    if (terminal_ != nullptr) std::fclose(terminal_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const ShownText& text) { Write(terminal_ == nullptr ? stderr : terminal_, text); }

 private:
  std::FILE* terminal_;
};

}  // namespace

std::optional<std::string> WaitForLine(Signals& signals) {
  std::string line;
  while (true) {
    if (signals.Wait(STDIN_FILENO, Duration(-1))) return std::nullopt;
    std::array<char, 1024> piece{};
    const auto size = read(STDIN_FILENO, piece.data(), piece.size());
    if (size <= 0) return std::nullopt;
    line.append(piece.data(), static_cast<std::size_t>(size));
    if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
}

TerminalMode::TerminalMode(tcflag_t without) {
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios wanted = before_;
  wanted.c_lflag &= ~without;
  wanted.c_cc[VMIN] = 1;
  wanted.c_cc[VTIME] = 0;
  changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &wanted) == 0;
}

TerminalMode::~TerminalMode() {
  if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

bool SaysNumber(std::string_view answer, std::uint64_t number) {
  return answer == std::to_string(number) || answer == Count(number);
}

std::optional<std::string> Ask(std::string_view question, const std::vector<std::string>& above) {
  Signals signals;  // before the question is seen: whoever answers with Ctrl-C gets an answer too
  Screen screen;
  // Keys that were typed before the question was seen are no answer to it.
  tcflush(STDIN_FILENO, TCIFLUSH);
  for (const auto& line : above) screen.Show(OwnLine(line));
  screen.Show(OwnText(VisibleLine(question)));
  auto answer = WaitForLine(signals);
  if (!answer) screen.Show(OwnText("\n"));
  return answer;
}

std::optional<std::string> AskSecret(std::string_view question) {
  Signals signals;
  Screen screen;
  std::optional<std::string> answer;
  {
    // Before the question is seen: whoever answers fast must not see the answer.
    const TerminalMode silent(ECHO);
    screen.Show(OwnText(VisibleLine(question)));
    answer = WaitForLine(signals);
  }
  screen.Show(OwnText("\n"));
  return answer;
}

}  // namespace muster::cli
