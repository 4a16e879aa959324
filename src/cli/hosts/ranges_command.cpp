#include <algorithm>
#include <unordered_set>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/context.hpp"
#include "cli/imports/import_file.hpp"
#include "domain/host.hpp"
#include "domain/host_ranges.hpp"

// Ranges of host names, without a server.
namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNames = 1'000'000;
constexpr std::size_t kMostBytes = 64 << 20;
constexpr std::size_t kMostComplaint = 1000;  // it repeats what is wrong, however long that is

constexpr const char* kFoldExamples = R"(Examples:
  muster fold web1 web2 web3                     web[1-3]
  muster hosts -o names --offline | muster fold  what is offline, in one line
  muster fold 'web[1-9]' -x 'web[4-5]'           web[1-3,6-9]
  muster fold --count 'web[01-20],db1'           21

Names and ranges are separated by commas or white space. muster expand is the other way round.)";

constexpr const char* kExpandExamples = R"(Examples:
  muster expand 'web[1-3]'                       web1, web2 and web3, a line each
  muster expand 'r[1-2]n[01-20]' -x r1n07        several ranges in a name; without one
  muster expand -s , 'web[1-3]' db1              web1,web2,web3,db1
  for h in $(muster expand 'web[1-3]'); do ping -c 1 "$h"; done

Names and ranges are separated by commas or white space. The server is not asked: patterns, labels
and groups are for muster hosts -o names EXPR.)";

struct RangesFlags {
  std::vector<std::string> words;
  std::vector<std::string> exclude;
  std::string separator = "\\n";
  bool count = false;
};

// White space separates as commas do, but not inside brackets: "web[1-3, 7]" is one word.
std::string WithCommas(std::string_view text) {
  std::string out;
  bool inside = false;
  bool gap = false;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (!inside && (space || c == ',')) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += ',';
    gap = false;
    out += c;
  }
  return out;
}

Result<std::vector<std::string>> NamesOf(std::string_view text) {
  const auto ranges = WithCommas(text);
  if (ranges.empty()) return std::vector<std::string>();
  auto names = ExpandHostRanges(ranges, kMostNames);
  if (!names) return Fail(names.error().code, "{}", CutLine(names.error().message, kMostComplaint));
  for (const auto& name : *names)
    if (const auto fits = CheckHostName(name); !fits)
      return Fail(ErrorCode::kInvalid,
                  "{}; patterns, labels and groups are for: muster hosts -o names EXPR",
                  fits.error().message);
  return names;
}

// Each once, in the order they came.
Result<std::vector<std::string>> ReadNames(const Context& context, const RangesFlags& flags) {
  std::string text;
  for (const auto& word : flags.words) text += word + ' ';
  if (flags.words.empty() || flags.words == std::vector<std::string>{"-"}) {
    if (flags.words.empty() && context.terminal.stdin_tty)
      return Fail(ErrorCode::kInvalid, "expected names or ranges, as words or on stdin");
    auto source = ReadImportFile("-", kMostBytes);
    if (!source) return Fail(source.error());
    text = std::move(source->text);
  }
  auto names = NamesOf(text);
  if (!names) return names;
  std::string excluded;
  for (const auto& word : flags.exclude) excluded += word + ' ';
  const auto without = NamesOf(excluded);
  if (!without) return Fail(without.error().code, "--exclude: {}", without.error().message);
  const std::unordered_set<std::string> gone(without->begin(), without->end());
  std::erase_if(*names, [&](const std::string& name) { return gone.contains(name); });
  return names;
}

Result<int> Fold(const Context& context, const RangesFlags& flags) {
  const auto names = ReadNames(context, flags);
  if (!names) return Fail(names.error());
  if (flags.count)
    Write(stdout, fmt::format("{}\n", names->size()));
  else if (const auto folded = FoldHostNames(*names);
           !context.PrintDocument(json::object{{"count", names->size()}, {"folded", folded}}) &&
           !names->empty())
    Write(stdout, OwnLine(folded));
  return 0;
}

// As a person writes it on a command line: \n and \t are a newline and a tab.
std::string Separator(std::string text) {
  for (const auto& [written, meant] : {std::pair("\\n", "\n"), std::pair("\\t", "\t")})
    for (auto at = text.find(written); at != std::string::npos; at = text.find(written))
      text.replace(at, 2, meant);
  return text;
}

Result<int> Expand(const Context& context, const RangesFlags& flags) {
  const auto names = ReadNames(context, flags);
  if (!names) return Fail(names.error());
  if (flags.count) {
    Write(stdout, fmt::format("{}\n", names->size()));
    return 0;
  }
  json::array list(names->begin(), names->end());
  if (context.PrintDocument(json::object{{"count", names->size()}, {"hosts", std::move(list)}}))
    return 0;
  const auto separator = Separator(flags.separator);
  std::string text;
  for (const auto& name : *names) text += (text.empty() ? "" : separator) + name;
  if (!text.empty()) Write(stdout, text + "\n");
  return 0;
}

void AddRangesOptions(CLI::App& command, const std::shared_ptr<RangesFlags>& flags) {
  command.add_option("ranges", flags->words, "Names and ranges; none or - reads them from stdin")
      ->type_name("RANGE");
  command.add_option("-x,--exclude", flags->exclude, "Without these")
      ->type_name("RANGE")
      ->allow_extra_args(false);
  command.add_flag("-c,--count", flags->count, "Print how many names these are");
}

}  // namespace

void AddRanges(CLI::App& app, Context& context) {
  auto* fold = app.add_subcommand("fold", "Write names as ranges: web[1-3]");
  const auto folded = std::make_shared<RangesFlags>();
  fold->footer(kFoldExamples);
  AddRangesOptions(*fold, folded);
  fold->callback([&context, folded] {
    context.action = [&context, folded] { return Fold(context, *folded); };
  });

  auto* expand = app.add_subcommand("expand", "Write ranges as names, a line each");
  const auto expanded = std::make_shared<RangesFlags>();
  expand->footer(kExpandExamples);
  AddRangesOptions(*expand, expanded);
  expand->add_option("-s,--separator", expanded->separator, "Between the names")
      ->type_name("TEXT")
      ->capture_default_str();
  expand->callback([&context, expanded] {
    context.action = [&context, expanded] { return Expand(context, *expanded); };
  });
}

}  // namespace muster::cli
