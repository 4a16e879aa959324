#include "cli/hosts/targets_file.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"

namespace muster::cli {
namespace {

std::string_view WithoutComment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
      return Trim(line.substr(0, i));
  return Trim(line);
}

bool IsPlainName(std::string_view text) {
  constexpr std::string_view kWords[] = {"and", "or", "not", "in", "all"};
  return std::ranges::find(kWords, text) == std::end(kWords) &&
         std::ranges::all_of(text, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

std::string EitherTargets(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return fmt::format("({}),({})", a, b);
}

Result<std::string> TargetsOfFile(std::string_view text) {
  std::vector<std::string> names;
  std::string expressions;
  std::size_t number = 0;
  for (const auto line : Split(text, '\n')) {
    ++number;
    const auto term = WithoutComment(line);
    if (term.empty()) continue;
    if (const auto parsed = TargetExpression::Parse(term); !parsed)
      return Fail(ErrorCode::kInvalid, "--targets-file, line {}: {}", number,
                  parsed.error().message);
    if (IsPlainName(term))
      names.emplace_back(term);
    else
      expressions += fmt::format("{}({})", expressions.empty() ? "" : ",", term);
  }
  if (names.empty() && expressions.empty())
    return Fail(ErrorCode::kInvalid,
                "--targets-file: expected a host or an expression on each "
                "line, found none");
  // Folded, thousands of numbered hosts stay one short term, and readable wherever it is shown.
  const auto folded = FoldHostNames(names);
  if (names.empty()) return expressions;
  return expressions.empty() ? folded : folded + "," + expressions;
}

}  // namespace muster::cli
