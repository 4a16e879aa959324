#include <algorithm>
#include <utility>

#include <openssl/evp.h>

#include "base/text.hpp"
#include "domain/host_ranges.hpp"
#include "imports/crontab_parts.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

constexpr std::size_t kMostComment = 1000;
constexpr std::size_t kNameDigits = 16;

std::string Sha256Hex(std::string_view text) {
  std::string digest(32, '\0');
  MUSTER_CHECK(EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()),
                          nullptr, EVP_sha256(), nullptr) == 1);
  return ToHex(digest);
}

// What cron sets when a crontab does not; an agent's own PATH is longer.
std::map<std::string, std::string> EnvOf(const CrontabEntry& entry) {
  auto env = entry.env;
  env.try_emplace("PATH", "/usr/bin:/bin");
  env.try_emplace("SHELL", "/bin/sh");
  return env;
}

// A text where templates may stand, or the name of a secret, that is neither.
std::string Literal(std::string_view text) {
  std::string out;
  if (text.starts_with("secret:")) {
    out = "${{ 'secret:' }}";
    text.remove_prefix(7);
  }
  for (auto at = text.find("${{"); at != std::string_view::npos; at = text.find("${{")) {
    out += std::string(text.substr(0, at)) + "${{ '${{' }}";
    text.remove_prefix(at + 3);
  }
  return out + std::string(text);
}

// Cron follows the clock also where only the minutes begin with *: what a clock change leaves out
// is not run, what it repeats is run twice. Muster goes by the hours.
bool FollowsClockByMinutes(std::string_view cron) {
  const auto fields = Split(cron, ' ');
  return fields.size() == 5 && fields[0].starts_with('*') && !fields[1].starts_with('*');
}

std::string JobText(const CrontabTrigger& trigger, const CrontabEntry& entry) {
  const auto env = EnvOf(entry);
  std::string text = "apiVersion: muster/v1\nkind: job\n";
  text += fmt::format("name: {}\n", trigger.name);
  text += "stages:\n  - name: command\n    script:\n";
  text += fmt::format("      run: {}\n", YamlQuoted(entry.command));
  text += fmt::format("      interpreter: {}\n", YamlQuoted(env.at("SHELL")));
  text += fmt::format("      user: {}\n", YamlQuoted(entry.user));
  if (const auto home = env.find("HOME"); home != env.end() && home->second.starts_with('/'))
    text += fmt::format("      folder: {}\n", YamlQuoted(Literal(home->second)));
  text += "      env:\n";
  for (const auto& [name, value] : env)
    text += fmt::format("        {}: {}\n", YamlText(name, 0), YamlQuoted(Literal(value)));
  if (entry.input && !entry.input->empty())
    text += fmt::format("      stdin: {}\n", YamlText(*entry.input, 8));
  return text + "    timeout: 24h\n";
}

std::string TriggerText(const CrontabTrigger& trigger, const CrontabEntry& entry,
                        const std::string& targets) {
  std::string text = "apiVersion: muster/v1\nkind: trigger\n";
  text += fmt::format("name: {}\n", trigger.name);
  if (!entry.comment.empty()) {
    auto end = std::min(entry.comment.size(), kMostComment);
    while (end > 0 && !IsUtf8(std::string_view(entry.comment).substr(0, end))) --end;
    text += fmt::format("description: {}\n", YamlQuoted(entry.comment.substr(0, end)));
  }
  text += fmt::format("cron: {}\ntz: {}\n", YamlQuoted(trigger.cron), YamlQuoted(trigger.tz));
  if (FollowsClockByMinutes(trigger.cron)) text += "gap: skip\nfold: both\n";
  text += fmt::format("job: {}\n", trigger.name);
  const auto expression = trigger.hosts.empty() ? targets : FoldHostNames(trigger.hosts);
  if (!expression.empty()) text += fmt::format("targets: {}\n", YamlQuoted(expression));
  return text + "missed: skip\noverlap: skip\npaused: true\n";
}

// Words that say how something is run, and not what.
bool SaysHow(std::string_view word) {
  constexpr std::string_view kHow[] = {"sudo", "nice",    "ionice", "env",   "exec",    "time",
                                       "sh",   "bash",    "dash",   "php",   "python3", "python",
                                       "perl", "ruby",    "node",   "java",  "timeout", "flock",
                                       "root", "chronic", "nohup",  "setsid"};
  return word.empty() || word.starts_with('-') || word.contains('=') ||
         (word.front() >= '0' && word.front() <= '9') ||
         std::ranges::find(kHow, word) != std::end(kHow);
}

// Parts of a line that only prepare the one that matters.
bool Prepares(std::string_view word) {
  constexpr std::string_view kFirst[] = {"cd",     "test", "[",     "[[",    "command", "export",
                                         "source", ".",    "sleep", "umask", "true",    ":"};
  return std::ranges::find(kFirst, word) != std::end(kFirst);
}

// The name of what a command runs: "backup" of "cd /srv && nice -n 10 /opt/bin/backup.sh --all".
std::string WordOf(std::string_view command) {
  bool skip = false;
  bool first = true;
  bool argument = false;  // of an option of nice or sudo
  for (auto word : Split(command, ' ')) {
    if (std::exchange(argument, word == "-u" || word == "-n" || word == "-g")) continue;
    if (word == "&&" || word == "||" || word == ";" || word == "|") {
      skip = false;
      first = true;
      continue;
    }
    if (first && Prepares(word)) skip = true;
    first = first && word.empty();
    if (skip && word.ends_with(';')) {
      skip = false;
      first = true;
      continue;
    }
    while (!word.empty() && std::string_view("({\"'").contains(word.front())) word.remove_prefix(1);
    const auto name = word.substr(word.rfind('/') + 1);
    if (skip || SaysHow(word) || SaysHow(name)) continue;
    const auto slug = Slug(name.substr(0, name.find('.')), "_-", '-', 30);
    if (!slug.empty()) return slug;
  }
  return "command";
}

}  // namespace

std::string IdentityOf(const CrontabEntry& entry) {
  std::string text;
  const auto add = [&](std::string_view part) {
    text += fmt::format("{}:", part.size());
    text += part;
  };
  for (const auto* part : {&entry.cron, &entry.tz, &entry.user, &entry.command}) add(*part);
  add(entry.input ? "%" + *entry.input : "");
  for (const auto& [name, value] : entry.env) {
    add(name);
    add(value);
  }
  return Sha256Hex(text);
}

std::string TriggerNameOf(const CrontabEntry& entry, std::string_view identity) {
  const auto user = Slug(entry.user, "_", '-', 32);
  return fmt::format("cron-{}-{}-{}", user.empty() ? "user" : user, WordOf(entry.command),
                     identity.substr(0, kNameDigits));
}

void WriteDocuments(CrontabTrigger& trigger, const CrontabEntry& entry,
                    const std::string& targets) {
  // As read, not as written: equal lines of two hosts give the same text.
  std::string line = fmt::format("# From cron: {} {}\n", entry.cron, entry.command);
  std::ranges::replace(line, '\t', ' ');
  trigger.job_text = line + JobText(trigger, entry);
  trigger.trigger_text = TriggerText(trigger, entry, targets);
}

}  // namespace muster::imports
