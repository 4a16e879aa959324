#include "domain/audit.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "domain/canonical.hpp"

namespace muster {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
}

std::string Quoted(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, IsPlain)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

constexpr std::string_view kCutMark = "…";
constexpr std::string_view kPush = "push";

std::string Cut(std::string text, std::size_t most) {
  if (text.size() > most) {
    text.resize(WholeCharacters(text, most).size());
    text += kCutMark;
  }
  if (IsUtf8(text)) return text;
  return "(not text; see its hash)";
}

std::string WordsText(std::string text, const std::vector<std::string>& words, std::size_t most) {
  for (const auto& word : words) {
    text += (text.empty() ? "" : " ") + Quoted(word);
    if (text.size() > most) break;
  }
  return text;
}

// As Cut, with the mark within `most` too; never less than the mark.
std::string CutWithin(std::string text, std::size_t most) {
  if (text.size() <= most && IsUtf8(text)) return text;
  return Cut(std::move(text), most > kCutMark.size() ? most - kCutMark.size() : 0);
}

// "push a.conf (sha256 …), b.conf (sha256 …) to /etc/app/ owner root mode 0644". The files make
// room for the destination, up to half of it, and both for owner and mode.
std::string PushText(const FilePush& push, std::size_t most) {
  std::string end;
  if (!push.owner.empty()) end += " owner " + CutWithin(Quoted(push.owner), most / 4);
  if (push.mode) end += fmt::format(" mode {:04o}", *push.mode);
  const std::size_t taken = kPush.size() + end.size();
  const std::size_t room = most > taken ? most - taken : 0;
  std::string files;
  for (const auto& file : push.files) {
    if (file.folder) continue;
    const std::string& name = file.path.empty() ? push.name : file.path;
    files += fmt::format("{} {} (sha256 {})", files.empty() ? "" : ",", Quoted(name),
                         ToHex(file.sha256));
    if (files.size() > room) break;
  }
  if (push.files.empty())
    files = fmt::format(" {} bytes of text (sha256 {})", push.content.size(),
                        ToHex(Sha256Of(push.content)));
  const std::size_t left = room > files.size() ? room - files.size() : 0;
  const std::string to = CutWithin(" to " + Quoted(push.to), std::max(room / 2, left));
  files = CutWithin(std::move(files), room > to.size() ? room - to.size() : 0);
  return fmt::format("{}{}{}{}", kPush, files, to, end);
}

void AddPush(Canonical& bytes, const FilePush& push) {
  bytes.Number(push.files.size());
  for (const auto& file : push.files) {
    bytes.Text(file.path).Text(file.sha256).Number(file.size).Number(file.mode);
    bytes.Number(file.folder ? 1 : 0);
  }
  bytes.Number(push.tree ? 1 : 0).Text(push.content).Text(push.to).Text(push.name);
  bytes.Number(push.mode ? *push.mode + std::uint64_t{1} : 0).Text(push.owner);
}

}  // namespace

std::string AuditHash(const AuditEntry& entry) {
  Canonical bytes("muster.audit.1");
  bytes.Text(entry.previous).Number(entry.number).Number(static_cast<std::uint64_t>(entry.at.ms));
  bytes.Text(entry.actor).Text(entry.address).Text(entry.client);
  bytes.Text(entry.act).Text(entry.object).Text(entry.detail).Text(entry.reason);
  bytes.Number(entry.run.value).Number(entry.hosts).Text(entry.names);
  bytes.Text(entry.command).Text(entry.command_sha256);
  return bytes.Sha256();
}

bool AuditWalk::Blame(std::uint64_t number, std::string why) {
  bad_ = number;
  why_ = std::move(why);
  return false;
}

bool AuditWalk::Take(const AuditEntry& entry) {
  if (bad_ != 0) return false;
  if (last_.number != 0 && entry.number != last_.number + 1)
    return Blame(last_.number + 1, "the entry is missing");
  if (AuditHash(entry) != entry.hash) return Blame(entry.number, "the entry was changed");
  if (last_.number != 0 && entry.previous != last_.hash)
    return Blame(entry.number, "the entry does not follow from the one before it");
  last_ = {entry.number, entry.hash};
  return true;
}

bool AuditWalk::Reaches(const AuditHead& head) {
  if (bad_ != 0) return false;
  if (last_.number < head.number)
    return Blame(last_.number == 0 ? head.number : last_.number + 1, "the entry is missing");
  if (last_.number == head.number && last_.hash != head.hash)
    return Blame(head.number, "the entry is not the last one that was made");
  return true;
}

bool AuditWalk::EndsWith(const AuditEntry* next, const AuditHead& head) {
  if (bad_ != 0) return false;
  if (next == nullptr || next->number <= head.number) return true;
  return Blame(next->number, "the entry was added by nobody");
}

std::string AuditText(const Command& command, std::size_t most) {
  if (command.push) return Cut(PushText(*command.push, most), most);
  if (command.pull) return Cut(WordsText("pull", command.pull->paths, most), most);
  if (command.reboot) return Cut(WordsText("reboot", command.reboot->argv, most), most);
  if (command.argv.empty()) return Cut(command.script, most);
  return Cut(WordsText("", command.argv, most), most);
}

std::string CommandHash(const Command& command) {
  const bool plain = command.IsProcess() && command.secrets.empty();
  Canonical bytes(plain ? "muster.command.1" : "muster.command.2");
  bytes.Texts(command.argv).Text(command.script).Text(command.interpreter).Texts(command.args);
  bytes.Text(command.stdin_data).Number(command.env.size());
  for (const auto& [name, value] : command.env) bytes.Text(name).Text(value);
  bytes.Text(command.user).Text(command.folder);
  if (plain) return bytes.Sha256();
  bytes.Number(command.secrets.size());
  for (const auto& use : command.secrets) bytes.Text(use.variable).Text(use.secret);
  bytes.Number(command.push ? 1 : 0);
  if (command.push) AddPush(bytes, *command.push);
  bytes.Number(command.pull ? 1 : 0);
  if (command.pull) bytes.Texts(command.pull->paths).Number(command.pull->max_bytes);
  bytes.Number(command.reboot ? 1 : 0);
  if (command.reboot) bytes.Texts(command.reboot->argv);
  return bytes.Sha256();
}

}  // namespace muster
