#include "domain/audit.hpp"

#include <algorithm>
#include <vector>

#include <openssl/evp.h>

#include "base/result.hpp"
#include "base/text.hpp"

namespace muster {
namespace {

// Every part behind its length, so that no two different lists of parts give the same bytes.
class Canonical {
 public:
  explicit Canonical(std::string_view form) { Text(form); }

  Canonical& Number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>(number >> shift & 0xff));
    return *this;
  }
  Canonical& Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
    return *this;
  }
  std::string Sha256() const {
    std::string digest(32, '\0');
    MUSTER_CHECK(EVP_Digest(bytes_.data(), bytes_.size(),
                            reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_sha256(),
                            nullptr) == 1);
    return digest;
  }

 private:
  std::string bytes_;
};

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

std::string Cut(std::string text, std::size_t most) {
  if (text.size() > most) {
    // Not inside a character: what follows its first byte looks like 10xxxxxx.
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
    text.resize(most);
    text += "…";
  }
  if (IsUtf8(text)) return text;
  return "(not text; see its hash)";
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
  if (command.argv.empty()) return Cut(command.script, most);
  std::string text;
  for (const auto& word : command.argv) {
    text += (text.empty() ? "" : " ") + Quoted(word);
    if (text.size() > most) break;
  }
  return Cut(std::move(text), most);
}

std::string CommandHash(const Command& command) {
  Canonical bytes("muster.command.1");
  const auto texts = [&bytes](const std::vector<std::string>& list) {
    bytes.Number(list.size());
    for (const auto& text : list) bytes.Text(text);
  };
  texts(command.argv);
  bytes.Text(command.script).Text(command.interpreter);
  texts(command.args);
  bytes.Text(command.stdin_data).Number(command.env.size());
  for (const auto& [name, value] : command.env) bytes.Text(name).Text(value);
  bytes.Text(command.user).Text(command.folder);
  return bytes.Sha256();
}

}  // namespace muster
