#include "agent/host/cgroup_places.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace muster::agent {
namespace {

bool Has(std::string_view list, std::string_view word) {
  const auto words = Split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto digits = text.substr(at + 1, 3);
    const bool escaped =
        text[at] == '\\' && digits.size() == 3 &&
        std::ranges::all_of(digits, [](char digit) { return digit >= '0' && digit <= '7'; });
    if (!escaped) {
      plain += text[at];
      continue;
    }
    plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    at += 3;
  }
  return plain;
}

struct Mount {
  std::string root;  // the part of the hierarchy that is seen
  std::string point;
};

// id parent major:minor ROOT POINT options [optional…] - TYPE source SUPER-OPTIONS
std::optional<Mount> ParseMount(std::string_view line, std::string_view controller) {
  const auto dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  const auto before = Split(line.substr(0, dash), ' ');
  const auto after = Split(line.substr(dash + 3), ' ');
  if (before.size() < 6 || after.size() < 3) return std::nullopt;
  const bool fits = controller.empty() ? after[0] == "cgroup2"
                                       : after[0] == "cgroup" && Has(after[2], controller);
  if (!fits) return std::nullopt;
  return Mount{Unescape(before[3]), Unescape(before[4])};
}

std::optional<std::string> Below(std::string_view root, std::string_view group) {
  if (root == "/") return std::string(group == "/" ? "" : group);
  if (!group.starts_with(root)) return std::nullopt;
  const auto rest = group.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return std::string(rest);
}

}  // namespace

std::optional<std::string> OwnGroup(std::string_view own, std::string_view controller) {
  for (const auto line : Split(own, '\n')) {
    const auto first = line.find(':');
    if (first == std::string_view::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const bool fits = controller.empty() ? line.starts_with("0::") : Has(controllers, controller);
    if (fits) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

std::optional<std::string> GroupFolder(std::string_view mounts, std::string_view controller,
                                       std::string_view group) {
  // A group outside of what a container may see.
  if (group.find("/..") != std::string_view::npos) return std::nullopt;
  for (const auto line : Split(mounts, '\n')) {
    const auto mount = ParseMount(line, controller);
    if (!mount) continue;
    if (const auto rest = Below(mount->root, group)) return mount->point + *rest;
  }
  return std::nullopt;
}

}  // namespace muster::agent
