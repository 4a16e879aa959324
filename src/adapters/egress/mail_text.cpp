#include "adapters/egress/mail_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/ranges.h>

#include "base/text.hpp"

namespace muster::outside {
namespace {

constexpr std::size_t kMostLine = 76;      // of base64 (RFC 2045)
constexpr std::size_t kMostSubject = 200;  // a first line may be long
constexpr std::size_t kWordBytes =
    42;  // make 56 of base64; an encoded word has at most 75 (RFC 2047)

std::string DateText(WallTime now) {
  const std::time_t seconds = now.ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S +0000", &parts);
  return text.data();
}

// What an encoded word takes of the text. Never nothing, also of bytes that are no characters.
std::string_view WordOf(std::string_view text) {
  const auto word = WholeCharacters(text, kWordBytes);
  return word.empty() ? text.substr(0, kWordBytes) : word;
}

std::string Lines(const std::string& base64) {
  std::string lines;
  for (std::size_t at = 0; at < base64.size(); at += kMostLine)
    lines += base64.substr(at, kMostLine) + "\r\n";
  return lines;
}

std::string Subject(const ChannelMessage& message, const MailChannel& mail) {
  if (!mail.subject.empty()) return mail.subject;
  const std::string_view text = message.message;
  const auto line = Trim(text.substr(0, text.find('\n')));
  return line.empty() ? "Muster: run " + FormatRunId(message.run)
                      : std::string(WholeCharacters(line, kMostSubject));
}

std::string BodyText(const ChannelMessage& message) {
  std::string text = message.message + "\r\n\r\nrun " + FormatRunId(message.run);
  if (!message.job.empty()) text += " of " + message.job;
  if (!message.state.empty()) text += ": " + message.state;
  if (!message.url.empty()) text += "\r\n" + message.url;
  return text + "\r\n";
}

}  // namespace

std::string HeaderText(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  const bool plain =
      std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; }) &&
      line.find("=?") == std::string::npos;
  if (plain) return line;
  std::string encoded;
  for (std::size_t at = 0; at < line.size();) {
    const auto piece = WordOf(std::string_view(line).substr(at));
    if (!encoded.empty()) encoded += "\r\n ";
    encoded += "=?utf-8?B?" + ToBase64(piece) + "?=";
    at += piece.size();
  }
  return encoded;
}

std::string MailText(const TaskKey& task, const ChannelMessage& message, const MailChannel& mail,
                     WallTime now) {
  const auto at = mail.from.find('@');
  return fmt::format(
      "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}-{}-{}@{}>\r\n"
      "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
      DateText(now), mail.from, fmt::join(mail.to, ",\r\n "), HeaderText(Subject(message, mail)),
      FormatRunId(task.run), task.visit.value, task.ordinal,
      at == std::string::npos ? "muster" : mail.from.substr(at + 1),
      Lines(ToBase64(BodyText(message))));
}

}  // namespace muster::outside
