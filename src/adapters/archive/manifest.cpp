#include "adapters/archive/manifest.hpp"

#include <charconv>

#include "base/text.hpp"

namespace muster::archive {
namespace {

constexpr std::string_view kMagic = "muster-backup";

template <typename T>
bool ParseAs(std::string_view text, T& value, int base = 10) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} && end == text.data() + text.size();
}

// The first word of `line`, which is left with the rest.
std::string_view TakeWord(std::string_view& line) {
  const auto space = line.find(' ');
  const auto word = line.substr(0, space);
  line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
  return word;
}

bool ParsePart(std::string_view line, Manifest& manifest) {
  Part part;
  part.sha256 = TakeWord(line);
  if (!ParseAs(TakeWord(line), part.size) || !ParseAs(TakeWord(line), part.mode, 8)) return false;
  if (!IsSafeName(line)) return false;
  return manifest.parts.emplace(line, std::move(part)).second;
}

}  // namespace

bool IsSafeName(std::string_view name) noexcept {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos)
    return false;
  for (const auto step : Split(name, '/'))
    if (step.empty() || step == "." || step == "..") return false;
  return true;
}

std::string FormatManifest(const Manifest& manifest) {
  std::string text = fmt::format("{} {}\n", kMagic, manifest.version);
  for (const auto& [name, value] : manifest.facts) text += fmt::format("{} {}\n", name, value);
  for (const auto& [name, part] : manifest.parts)
    text += fmt::format("file {} {} {:o} {}\n", part.sha256, part.size, part.mode, name);
  return text;
}

Result<Manifest> ParseManifest(std::string_view text) {
  Manifest manifest;
  bool first = true;
  for (auto line : Split(text, '\n')) {
    if (line.empty()) continue;
    const auto word = TakeWord(line);
    if (first) {
      if (word != kMagic || !ParseAs(line, manifest.version))
        return Fail(ErrorCode::kInvalid, "it is not a Muster backup");
      if (manifest.version > kFormatVersion)
        return Fail(ErrorCode::kInvalid,
                    "it was made by a newer musterd (format {}, this one knows {})",
                    manifest.version, kFormatVersion);
      first = false;
    } else if (word == "file") {
      if (!ParsePart(line, manifest))
        return Fail(ErrorCode::kInvalid, "its list of files is damaged");
    } else {
      manifest.facts[std::string(word)] = line;
    }
  }
  if (first) return Fail(ErrorCode::kInvalid, "it is not a Muster backup");
  return manifest;
}

}  // namespace muster::archive
