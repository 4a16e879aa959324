#include "adapters/settings/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/ranges.h>

#include "base/text.hpp"

namespace muster::settings {
namespace {

// A setting of one value: `parse` turns the text into a value or says why not.
template <typename Field, typename Parse, typename Format>
Setting One(std::string name, Field& field, std::string help, Parse parse, Format format) {
  Setting setting{.name = std::move(name), .help = std::move(help)};
  setting.set = [&field, parse](const std::vector<std::string>& words) -> Result<> {
    if (words.size() != 1) return Fail(ErrorCode::kInvalid, "takes a single value");
    auto value = parse(words.front());
    if (!value) return Fail(value.error());
    field = std::move(*value);
    return {};
  };
  setting.get = [&field, format] { return std::vector<std::string>{format(field)}; };
  return setting;
}

Result<std::string> AsItIs(const std::string& text) { return text; }

Result<bool> ParseFlag(const std::string& text) {
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return Fail(ErrorCode::kInvalid, "'{}' is neither true nor false", text);
}

// With the largest suffix that loses nothing: what is printed must read back as the same number.
std::string ExactSize(std::uint64_t bytes) {
  static constexpr std::pair<unsigned, const char*> kSuffixes[] = {
      {30, "GB"}, {20, "MB"}, {10, "KB"}};
  for (const auto& [shift, suffix] : kSuffixes)
    if (bytes != 0 && bytes % (1ULL << shift) == 0) return std::to_string(bytes >> shift) + suffix;
  return std::to_string(bytes);
}

// Calls `visit` with the full name of every setting that is not a section.
void Walk(const Table& table, const std::string& prefix,
          const std::function<void(const std::string&, const Setting&)>& visit) {
  for (const auto& setting : table) {
    const std::string name = prefix + setting.name;
    if (setting.shape == Shape::kSection)
      Walk(setting.inner, name + ".", visit);
    else
      visit(name, setting);
  }
}

}  // namespace

Setting Setting::Live() && {
  live = true;
  for (auto& setting : inner) setting = std::move(setting).Live();
  return std::move(*this);
}

Setting Setting::Shown(std::function<std::string(const std::string&)> as) && {
  shown = std::move(as);
  return std::move(*this);
}

std::vector<std::string> Setting::ToShow() const {
  auto words = get();
  if (shown)
    for (auto& word : words) word = shown(word);
  return words;
}

Setting Setting::Checked(std::function<Result<>(const std::string&)> check) && {
  set = [set = std::move(set),
         check = std::move(check)](const std::vector<std::string>& words) -> Result<> {
    for (const auto& word : words)
      if (const auto fits = check(word); !fits) return fits;
    return set(words);
  };
  return std::move(*this);
}

Setting Text(std::string name, std::string& field, std::string help) {
  return One(std::move(name), field, std::move(help), AsItIs,
             [](const std::string& value) { return value; });
}

Setting Path(std::string name, std::filesystem::path& field, std::string help) {
  return One(std::move(name), field, std::move(help), AsItIs,
             [](const std::filesystem::path& value) { return value.string(); });
}

Setting Choice(std::string name, std::string& field, std::string help,
               std::vector<std::string> choices) {
  const auto check = [choices](const std::string& text) -> Result<> {
    if (std::ranges::find(choices, text) != choices.end()) return {};
    return Fail(ErrorCode::kInvalid, "'{}' is none of {}", text, fmt::join(choices, ", "));
  };
  help += fmt::format(" One of {}.", fmt::join(choices, ", "));
  return Text(std::move(name), field, std::move(help)).Checked(check);
}

Setting Time(std::string name, Duration& field, std::string help, Duration least) {
  const auto parse = [least](const std::string& text) -> Result<Duration> {
    auto time = ParseDuration(text);
    if (time && *time < least)
      return Fail(ErrorCode::kInvalid, "'{}' is too short, at least {} is needed", text,
                  FormatDuration(least));
    return time;
  };
  return One(std::move(name), field, std::move(help), parse, FormatDuration);
}

Setting Size(std::string name, std::uint64_t& field, std::string help) {
  return One(
      std::move(name), field, std::move(help),
      [](const std::string& text) { return ParseSize(text); }, ExactSize);
}

Setting Number(std::string name, std::uint64_t& field, std::string help, std::uint64_t least,
               std::uint64_t most) {
  const auto parse = [least, most](const std::string& text) -> Result<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size() && value >= least &&
        value <= most)
      return value;
    return Fail(ErrorCode::kInvalid, "'{}' is not a whole number from {} to {}", text, least, most);
  };
  return One(std::move(name), field, std::move(help), parse,
             [](std::uint64_t value) { return std::to_string(value); });
}

Setting Flag(std::string name, bool& field, std::string help) {
  return One(std::move(name), field, std::move(help), ParseFlag,
             [](bool value) { return std::string(value ? "true" : "false"); });
}

Setting List(std::string name, std::vector<std::string>& field, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .shape = Shape::kList,
          .set = [&field](const std::vector<std::string>& words) -> Result<> {
            field = words;
            return {};
          },
          .get = [&field] { return field; }};
}

Setting Pairs(std::string name, std::map<std::string, std::string, std::less<>>& field,
              std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .shape = Shape::kPairs,
          .set = [&field](const std::vector<std::string>& words) -> Result<> {
            std::map<std::string, std::string, std::less<>> pairs;
            for (const auto& word : words) {
              const auto equals = word.find('=');
              if (equals == std::string::npos)
                return Fail(ErrorCode::kInvalid, "'{}': write KEY=VALUE", word);
              pairs[word.substr(0, equals)] = word.substr(equals + 1);
            }
            field = std::move(pairs);
            return {};
          },
          .get =
              [&field] {
                std::vector<std::string> words;
                for (const auto& [key, value] : field) words.push_back(key + "=" + value);
                return words;
              }};
}

Setting Section(std::string name, std::string help, Table inner) {
  return {.name = std::move(name),
          .help = std::move(help),
          .shape = Shape::kSection,
          .inner = std::move(inner)};
}

Result<> ReadEnvironment(const Table& table,
                         const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [variable, name] : names) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    if (const auto set = Set(table, name, {value}); !set)
      return Fail(set.error().code, "{}: {}", variable, set.error().message);
  }
  return {};
}

Result<> Set(const Table& table, std::string_view name, const std::vector<std::string>& words) {
  Result<> done = Fail(ErrorCode::kInvalid, "there is no setting '{}'", name);
  Walk(table, "", [&](const std::string& full, const Setting& setting) {
    if (full != name) return;
    done = setting.set(words);
    if (!done) done = Fail(done.error().code, "{}: {}", name, done.error().message);
  });
  return done;
}

std::vector<Difference> Differences(const Table& before, const Table& after) {
  std::map<std::string, const Setting*> old;
  Walk(before, "", [&](const std::string& name, const Setting& setting) { old[name] = &setting; });
  std::vector<Difference> found;
  Walk(after, "", [&](const std::string& name, const Setting& setting) {
    if (old.at(name)->get() == setting.get()) return;
    found.push_back({name, fmt::format("{}", fmt::join(old.at(name)->ToShow(), ", ")),
                     fmt::format("{}", fmt::join(setting.ToShow(), ", ")), setting.live});
  });
  return found;
}

std::string Sentence(const Difference& difference) {
  return fmt::format("{}: {} -> {}{}", difference.name, difference.before, difference.after,
                     difference.live ? "" : " needs a restart");
}

std::string Tally(const std::vector<Difference>& found) {
  const auto live = std::ranges::count_if(found, &Difference::live);
  return fmt::format("{} needs_restart={}", live, found.size() - static_cast<std::size_t>(live));
}

std::vector<Difference> TakeLive(const Table& before, const Table& after) {
  auto found = Differences(before, after);
  Walk(after, "", [&](const std::string& name, const Setting& setting) {
    if (!setting.live) return;
    MUSTER_CHECK(Set(before, name, setting.get()).has_value());
  });
  return found;
}

}  // namespace muster::settings
