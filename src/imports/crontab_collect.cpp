#include <algorithm>

#include "base/text.hpp"
#include "imports/crontab_parts.hpp"

namespace muster::imports {
namespace {

// Lines of files begin with "> ", our own with "=== ": nothing in a file can pass for a mark. An
// empty line after a file means that its last line has an end. Debian keeps crontabs of users in
// crontabs/, SUSE in tabs/, Red Hat in the folder above.
constexpr std::string_view kScript = R"sh(
LC_ALL=C; export LC_ALL
echo '=== muster crontabs 1'
zone=$(readlink "$root/etc/localtime" 2>/dev/null | sed -n 's|.*/zoneinfo/||p')
[ -n "$zone" ] || zone=$(head -n 1 "$root/etc/timezone" 2>/dev/null)
[ -z "$zone" ] || echo "=== zone $zone"
count=0
take() {
  [ -f "$2" ] || return 0
  case $2 in *"
"*) return 0 ;; esac
  count=$((count + 1))
  if [ "$count" -gt "$files" ]; then echo "=== left ${2#"$root"}"; return 0; fi
  if [ ! -r "$2" ]; then echo "=== unreadable ${2#"$root"}"; return 0; fi
  echo "=== $1 ${2#"$root"}"
  head -c "$bytes" "$2" | sed 's/^/> /'
  echo
  [ "$(wc -c < "$2")" -le "$bytes" ] || echo '=== cut'
}
closed() {
  if [ -d "$1" ] && [ ! -r "$1" ]; then echo "=== unreadable ${1#"$root"}"; fi
}
take system "$root/etc/crontab"
closed "$root/etc/cron.d"
for file in "$root"/etc/cron.d/*; do take system "$file"; done
for folder in "$root/var/spool/cron/crontabs" "$root/var/spool/cron/tabs" "$root/var/spool/cron"; do
  closed "$folder"
  for file in "$folder"/*; do take user "$file"; done
done
echo '=== end'
)sh";

std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsOneLine(std::string_view text) {
  return IsUtf8(text) && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
         });
}

bool IsZone(std::string_view name) {
  constexpr std::string_view kSigns =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
  return !name.empty() && name.find_first_not_of(kSigns) == std::string_view::npos;
}

// What packages and editors leave beside a file.
bool IsLeftBehind(std::string_view name) {
  return name.ends_with('~') || name.contains(".dpkg-") || name.contains(".rpm") ||
         name.ends_with(".swp") || name.ends_with(".disabled");
}

class Collected {
 public:
  explicit Collected(const std::string& host) : host_(host) {}

  CollectedCrontabs Read(std::string_view output) {
    for (const auto line : Split(output, '\n')) Take(line);
    if (!begun_)
      Note(Carried::kLost, "", "it did not say its crontabs");
    else if (!ended_)
      Note(Carried::kLost, "", "what it said of its crontabs was cut short; import it alone");
    else if (zone_.empty())
      Note(Carried::kChanged, "", "it does not say its time zone; UTC is taken");
    for (auto& file : read_.files) file.tz = zone_;
    if (!ended_ && !read_.files.empty()) read_.files.back().cut = true;
    return std::move(read_);
  }

 private:
  void Note(Carried carried, std::string_view path, std::string sentence) {
    read_.notes.push_back({carried, {host_, std::string(path), {}, ""}, std::move(sentence)});
  }
  void Lost(std::string_view path, std::string_view sentence) {
    Note(Carried::kLost, path, fmt::format("{} {}", path, sentence));
  }

  void Take(std::string_view line) {
    if (line.starts_with("> ")) return TakeLine(line.substr(2));
    if (line.empty() && pending_end_) text() += '\n';
    if (line.empty()) open_ = pending_end_ = false;
    if (line.starts_with("=== ")) TakeMark(line.substr(4));
  }

  std::string& text() { return read_.files.back().text; }

  void TakeLine(std::string_view line) {
    if (!open_) return;
    if (pending_end_) text() += '\n';
    text() += line;
    pending_end_ = true;
  }

  void TakeMark(std::string_view mark) {
    open_ = false;
    pending_end_ = false;
    if (!IsOneLine(mark))
      return Note(Carried::kLost, "", "a file is left out, for its name is no text");
    const auto end = std::min(mark.size(), mark.find(' '));
    const auto word = mark.substr(0, end);
    const auto rest = mark.substr(std::min(mark.size(), end + 1));
    if (word == "muster") begun_ = true;
    if (word == "end") ended_ = true;
    if (word == "zone" && IsZone(Trim(rest))) zone_ = Trim(rest);
    if (word == "cut" && !read_.files.empty()) read_.files.back().cut = true;
    if (word == "unreadable") Lost(rest, "cannot be read; collect as root (--as)");
    if (word == "left") Lost(rest, "is one file too many");
    if (word == "system" || word == "user") Open(rest, word == "user");
  }

  void Open(std::string_view path, bool user) {
    const auto name = NameIn(path);
    if (IsLeftBehind(name)) return Lost(path, "is left alone, as by cron: a copy of another");
    const bool plain = name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                       std::string_view::npos;
    if (!user && !plain && path != "/etc/crontab")
      Note(Carried::kChanged, path,
           fmt::format("{} is taken; Debian's cron leaves files with such names alone", path));
    read_.files.push_back({.host = host_,
                           .path = std::string(path),
                           .text = "",
                           .user = user ? std::string(name) : "",
                           .tz = ""});
    open_ = true;
  }

  const std::string& host_;
  CollectedCrontabs read_;
  std::string zone_;
  bool begun_ = false;
  bool ended_ = false;
  bool open_ = false;
  bool pending_end_ = false;  // a line is in `text` whose end is not
};

}  // namespace

CollectedCrontabs ReadCollected(const std::string& host, std::string_view output) {
  return Collected(host).Read(output);
}

std::string CollectScript(std::string_view root) {
  std::string quoted = "'";
  for (const char c : root) quoted += c == '\'' ? R"('\'')" : std::string(1, c);
  return fmt::format("root={}'\nfiles={}\nbytes={}\n{}", quoted, kMostCollectedFiles,
                     kMostCollectedFile, kScript.substr(1));
}

}  // namespace muster::imports
