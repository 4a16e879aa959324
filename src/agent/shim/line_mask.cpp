#include "agent/shim/line_mask.hpp"

#include <algorithm>
#include <cstdint>

namespace muster::agent {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

constexpr std::uint8_t kWord = 1;  // letters, digits, '_'
constexpr std::uint8_t kDigit = 2;
constexpr std::uint8_t kHex = 4;
constexpr std::uint8_t kJoint = 8;  // between "pid" and its number

constexpr std::array<std::uint8_t, 256> MakeClasses() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kWord | kDigit | kHex;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kWord;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kWord;
  for (int c = 'a'; c <= 'f'; ++c) classes[static_cast<std::size_t>(c)] |= kHex;
  for (int c = 'A'; c <= 'F'; ++c) classes[static_cast<std::size_t>(c)] |= kHex;
  classes['_'] = kWord;
  for (const char c : {' ', '\t', '=', ':', '"', '\'', '#', '(', '['})
    classes[static_cast<std::size_t>(c)] = kJoint;
  return classes;
}
constexpr auto kClasses = MakeClasses();

std::uint8_t ClassOf(char c) noexcept { return kClasses[static_cast<unsigned char>(c)]; }
bool IsWord(char c) noexcept { return (ClassOf(c) & kWord) != 0; }
bool IsDigit(char c) noexcept { return (ClassOf(c) & kDigit) != 0; }
bool IsHex(char c) noexcept { return (ClassOf(c) & kHex) != 0; }
char Lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Beyond either end of a line stands a space.
char At(std::string_view line, std::size_t at) noexcept {
  return at < line.size() ? line[at] : ' ';
}
char Before(std::string_view line, std::size_t at) noexcept { return at > 0 ? line[at - 1] : ' '; }

// The number of `count` digits at `at`, or -1.
int Number(std::string_view line, std::size_t at, std::size_t count) noexcept {
  if (at + count > line.size()) return -1;
  int number = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!IsDigit(line[i])) return -1;
    number = number * 10 + (line[i] - '0');
  }
  return number;
}

bool Within(int number, int low, int high) noexcept { return number >= low && number <= high; }

// --- times: each returns the end of what it found, or kNone ---

std::size_t FractionEnd(std::string_view line, std::size_t at) noexcept {
  if ((At(line, at) != '.' && At(line, at) != ',') || !IsDigit(At(line, at + 1))) return at;
  ++at;
  while (IsDigit(At(line, at))) ++at;
  return at;
}

bool EndsHere(std::string_view line, std::size_t at) noexcept {
  return !IsWord(At(line, at)) && !(At(line, at) == ':' && IsHex(At(line, at + 1)));
}

// Z, +02, +0200, +02:00, and as `date` and git have it " +0200".
std::size_t ZoneEnd(std::string_view line, std::size_t at) noexcept {
  if ((At(line, at) | 0x20) == 'z') return at + 1;
  const bool apart = At(line, at) == ' ';
  const std::size_t sign = apart ? at + 1 : at;
  if (At(line, sign) != '+' && At(line, sign) != '-') return at;
  if (!Within(Number(line, sign + 1, 2), 0, 14)) return at;
  const std::size_t minutes = At(line, sign + 3) == ':' ? sign + 4 : sign + 3;
  if (Within(Number(line, minutes, 2), 0, 59) && EndsHere(line, minutes + 2)) return minutes + 2;
  return !apart && EndsHere(line, sign + 3) ? sign + 3 : at;
}

// 10:15:00, and 10:15 where `seconds` may be missing; with fraction and zone.
std::size_t ClockEnd(std::string_view line, std::size_t at, bool seconds) noexcept {
  if (!Within(Number(line, at, 2), 0, 24) || At(line, at + 2) != ':' ||
      !Within(Number(line, at + 3, 2), 0, 59))
    return kNone;
  std::size_t end = at + 5;
  if (At(line, end) == ':' && Within(Number(line, end + 1, 2), 0, 60))
    end = FractionEnd(line, end + 3);
  else if (seconds)
    return kNone;
  const std::size_t zone = ZoneEnd(line, end);
  if (EndsHere(line, zone)) return zone;
  return EndsHere(line, end) ? end : kNone;
}

// 2026-01-31, and the time that stands behind it.
std::size_t DateEnd(std::string_view line, std::size_t at) noexcept {
  if (!Within(Number(line, at, 4), 1000, 2999) || At(line, at + 4) != '-' ||
      !Within(Number(line, at + 5, 2), 1, 12) || At(line, at + 7) != '-' ||
      !Within(Number(line, at + 8, 2), 1, 31))
    return kNone;
  const std::size_t end = at + 10;
  const char joint = At(line, end);
  if (joint == 'T' || joint == 't' || joint == ' ' || joint == '_')
    if (const std::size_t clock = ClockEnd(line, end + 1, false); clock != kNone) return clock;
  return IsWord(joint) ? kNone : end;
}

// 20260131T101500Z
constexpr std::size_t kBasicTime = 13;  // at least
std::size_t BasicTimeEnd(std::string_view line, std::size_t at) noexcept {
  if (At(line, at + 8) != 'T' || !Within(Number(line, at, 4), 1000, 2999) ||
      !Within(Number(line, at + 4, 2), 1, 12) || !Within(Number(line, at + 6, 2), 1, 31) ||
      !Within(Number(line, at + 9, 2), 0, 24) || !Within(Number(line, at + 11, 2), 0, 59))
    return kNone;
  std::size_t end = at + 13;
  if (Within(Number(line, end, 2), 0, 60)) end = FractionEnd(line, end + 2);
  end = ZoneEnd(line, end);
  return IsWord(At(line, end)) ? kNone : end;
}

// --- addresses ---

std::size_t Ipv4End(std::string_view line, std::size_t at) noexcept {
  for (int part = 0; part < 4; ++part) {
    std::size_t digits = 0;
    while (digits < 4 && IsDigit(At(line, at + digits))) ++digits;
    if (digits == 0 || digits > 3 || Number(line, at, digits) > 255) return kNone;
    at += digits;
    if (part < 3 && At(line, at++) != '.') return kNone;
  }
  const bool goes_on = IsWord(At(line, at)) || (At(line, at) == '.' && IsDigit(At(line, at + 1)));
  return goes_on ? kNone : at;
}

std::size_t MacEnd(std::string_view line, std::size_t at) noexcept {
  for (int part = 0; part < 6; ++part, at += 3) {
    if (!IsHex(At(line, at)) || !IsHex(At(line, at + 1))) return kNone;
    if (part < 5 && At(line, at + 2) != ':') return kNone;
  }
  return EndsHere(line, at - 1) ? at - 1 : kNone;
}

std::size_t Ipv6End(std::string_view line, std::size_t at) noexcept {
  int groups = 0;
  bool shortened = false;
  if (At(line, at) == ':') {
    shortened = true;
    at += 2;
  }
  while (groups < 8) {
    std::size_t digits = 0;
    while (digits < 5 && IsHex(At(line, at + digits))) ++digits;
    if (digits > 4) return kNone;
    if (digits == 0) break;  // behind "::"
    if (At(line, at + digits) == '.')
      if (const std::size_t end = Ipv4End(line, at); end != kNone) {
        groups += 2;
        at = end;
        break;
      }
    ++groups;
    at += digits;
    if (At(line, at) != ':') break;
    if (At(line, at + 1) == ':') {
      if (shortened) return kNone;
      shortened = true;
      at += 2;
    } else if (IsHex(At(line, at + 1))) {
      ++at;
    } else {
      break;  // a colon that ends a clause
    }
  }
  const bool whole = shortened ? groups >= 1 && groups <= 7 : groups == 8;
  return whole && EndsHere(line, at) ? at : kNone;
}

// --- numbers of processes ---

bool IsPidWord(std::string_view word) noexcept {
  if (word.size() < 3 || Lower(word[word.size() - 1]) != 'd') return false;
  const auto last = word.substr(word.size() - 3);
  if (Lower(last[0]) != 'p' || Lower(last[1]) != 'i') return false;
  if (word.size() == 3) return true;
  const char before = word[word.size() - 4];
  return before == '_' || (word.size() == 4 && Lower(before) == 'p') ||
         (last == "PID" && before >= 'a' && before <= 'z');
}

// Whether a word for a process stands before the number at `at`, joined to it: `pid 7`, `pid=7`,
// `"pid": 7`.
bool FollowsPid(std::string_view line, std::size_t at) noexcept {
  constexpr std::size_t kMostJoints = 3;
  constexpr std::size_t kLongest = 32;  // of such words
  std::size_t end = at;
  while (end > 0 && at - end < kMostJoints && (ClassOf(line[end - 1]) & kJoint) != 0) --end;
  if (end == at || Lower(Before(line, end)) != 'd') return false;
  std::size_t begin = end;
  while (begin > 0 && end - begin < kLongest && IsWord(line[begin - 1])) --begin;
  return IsPidWord(line.substr(begin, end - begin));
}

using Found = LineMask::Found;

// The address that begins at `at`.
Found AddressAt(std::string_view line, std::size_t at) noexcept {
  const char before = Before(line, at);
  if (before == ':' || before == '.') return {};
  if (const std::size_t end = MacEnd(line, at); end != kNone) return {end, "<ip>"};
  if (const std::size_t end = Ipv6End(line, at); end != kNone) return {end, "<ip>"};
  return {};
}

// The address of which the colon at `at` is the first; it begins before it, or at it.
std::size_t AddressBegin(std::string_view line, std::size_t at) noexcept {
  constexpr std::size_t kGroup = 4;
  std::size_t begin = at;
  while (begin > 0 && at - begin < kGroup && IsHex(line[begin - 1])) --begin;
  if (IsWord(Before(line, begin))) return kNone;
  const bool shortened = At(line, at + 1) == ':' && IsHex(At(line, at + 2));
  return begin < at || shortened ? begin : kNone;
}

// What begins with the digit at `at`, where a word begins; `word_end` is where that ends.
Found NumberAt(std::string_view line, std::size_t at, std::size_t word_end, bool digits) noexcept {
  const char before = Before(line, at);
  const char after = At(line, word_end);
  const std::size_t size = word_end - at;
  std::size_t end = kNone;
  if (after == ':' && before != ':' && before != '.') {
    if (const Found address = AddressAt(line, at); address.end != kNone) return address;
    if ((end = ClockEnd(line, at, true)) != kNone) return {end, "<time>"};
  } else if (after == '.' && before != '.') {
    if ((end = Ipv4End(line, at)) != kNone) return {end, "<ip>"};
  } else if (after == '-') {
    if ((end = DateEnd(line, at)) != kNone) return {end, "<time>"};
  }
  if (size >= kBasicTime && (end = BasicTimeEnd(line, at)) != kNone) return {end, "<time>"};
  if (digits && ((before == '[' && after == ']') || FollowsPid(line, at)))
    return {word_end, "<pid>"};
  if (size > 2 && line[at] == '0' && Lower(line[at + 1]) == 'x') {
    const auto number = line.substr(at + 2, size - 2);
    if (std::all_of(number.begin(), number.end(), IsHex)) return {word_end, "<0x>"};
  }
  return {};
}

}  // namespace

LineMask::LineMask(const Words& words) {
  for (const std::string_view host : words.hosts) {
    AddName(host, "<host>");
    const auto brief = host.substr(0, host.find('.'));
    // That of an address is a number like many others.
    if (!std::all_of(brief.begin(), brief.end(), IsDigit)) AddName(brief, "<host>");
  }
  AddName(words.run, "<run>");
  AddName(words.task, "<task>");
  stops_ = begins_;
  for (char digit = '0'; digit <= '9'; ++digit) stops_[static_cast<unsigned char>(digit)] = true;
  stops_[':'] = true;
  std::sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
    return a.lower.size() != b.lower.size() ? a.lower.size() > b.lower.size() : a.lower < b.lower;
  });
}

void LineMask::AddName(std::string_view name, std::string_view mark) {
  if (name.size() < 2 || !IsWord(name[0])) return;
  Name added{std::string(name), mark};
  std::transform(name.begin(), name.end(), added.lower.begin(), Lower);
  begins_[static_cast<unsigned char>(added.lower[0])] = true;
  if (added.lower[0] >= 'a' && added.lower[0] <= 'z')
    begins_[static_cast<unsigned char>(added.lower[0] & ~0x20)] = true;
  names_.push_back(std::move(added));
}

const LineMask::Name* LineMask::NameAt(std::string_view line, std::size_t at) const noexcept {
  if (Before(line, at) == '-') return nullptr;
  if (!begins_[static_cast<unsigned char>(line[at])]) return nullptr;
  for (const auto& name : names_) {
    const auto text = line.substr(at, name.lower.size());
    const char after = At(line, at + name.lower.size());
    if (text.size() == name.lower.size() && !IsWord(after) && after != '-' &&
        std::equal(text.begin(), text.end(), name.lower.begin(),
                   [](char a, char b) { return Lower(a) == b; }))
      return &name;
  }
  return nullptr;
}

LineMask::Found LineMask::WordAt(std::string_view line, std::size_t at) const noexcept {
  if (IsDigit(line[at])) {
    std::size_t end = at;
    std::uint8_t common = kDigit;
    for (; end < line.size() && IsWord(line[end]); ++end) common &= ClassOf(line[end]);
    const auto found = NumberAt(line, at, end, common != 0);
    if (found.end != kNone) return found;
  }
  const Name* name = NameAt(line, at);
  return name == nullptr ? Found{} : Found{at + name->lower.size(), name->mark};
}

// Goes from one byte that may mean something to the next: most mean nothing.
void LineMask::Mask(std::string_view line, std::string& out) const {
  std::size_t plain = 0;  // from here on nothing was appended yet
  for (std::size_t at = 0; at < line.size();) {
    if (!stops_[static_cast<unsigned char>(line[at])]) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    Found found;
    if (line[at] == ':') {
      begin = AddressBegin(line, at);
      if (begin != kNone && begin >= plain) found = AddressAt(line, begin);
    } else if (!IsWord(Before(line, at))) {
      found = WordAt(line, at);
    }
    if (found.end == kNone) {
      // The rest of a word means nothing either.
      if (line[at++] != ':')
        while (at < line.size() && IsWord(line[at])) ++at;
      continue;
    }
    out.append(line, plain, begin - plain).append(found.mark);
    plain = at = found.end;
  }
  out.append(line, plain, line.size() - plain);
}

}  // namespace muster::agent
