#include "cli/logs/log_grep.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr int kExitNoMatch = 4;

std::string TextIn(const json::value& found) {
  if (const auto& text = FieldOf(found, "text"); text.is_string())
    return std::string(text.as_string());
  return FromBase64(TextOf(found, "text_base64")).value_or("");
}

// As grep does: a colon behind what matches, a dash behind what stands around it.
ShownText Line(const Context& context, const json::value& found, bool with_stage, bool with_pass) {
  const char mark =
      FieldOf(found, "match").is_bool() && FieldOf(found, "match").as_bool() ? ':' : '-';
  const std::string stage = with_stage ? " " + LineOf(found, "stage") : "";
  const std::string pass = with_pass ? fmt::format(" pass {}", NumberOf(found, "pass")) : "";
  const std::string attempt =
      FlagOf(found, "repeated") ? fmt::format(" attempt {}", NumberOf(found, "attempt")) : "";
  auto line = OwnText(fmt::format("{}{}{}{}{}{}{} ", LineOf(found, "host"), stage, pass, attempt,
                                  mark, NumberOf(found, "line"), mark));
  line += CopiedText(TextIn(found), context.terminal.stdout_tty);
  line += OwnText(FieldOf(found, "cut").is_bool() ? "…\n" : "\n");
  return line;
}

// The server names its field, `re`.
Error AboutOption(Error error) {
  constexpr std::string_view kField = "re: ";
  if (error.message.starts_with(kField))
    error.message = fmt::format("--grep: {}", error.message.substr(kField.size()));
  return error;
}

}  // namespace

Result<int> GrepLogs(const Context& context, ApiClient& api, const std::string& run,
                     const std::string& stage, const std::string& host, const GrepFlags& flags) {
  const auto whole = api.Get(fmt::format("/runs/{}/summary", Segment(run)));
  if (!whole) return Fail(whole.error());
  const bool with_stage = stage.empty() && NumberOf(*whole, "stages_total") > 1;
  const bool with_pass = NumberOf(*whole, "pass") > 1;
  const bool raw = context.OutputFormat() != Format::kTable;
  json::value done;
  const Query query{{"re", flags.re},
                    {"ignore_case", flags.ignore_case ? "true" : ""},
                    {"context", std::to_string(flags.context)},
                    {"stage", stage},
                    {"host", host},
                    {"limit", std::to_string(flags.limit)}};
  const auto searched = api.Objects(fmt::format("/runs/{}/search", Segment(run)), query,
                                    [&](const json::value& found) {
                                      if (!FieldOf(found, "done").is_null())
                                        done = found;
                                      else if (raw)
                                        WriteCopy(stdout, JsonLine(found));
                                      else
                                        Write(stdout, Line(context, found, with_stage, with_pass));
                                      return true;
                                    });
  if (!searched) return Fail(AboutOption(searched.error()));
  if (done.is_null())
    return Fail(ErrorCode::kUnavailable, "the search was cut off; what is shown is not all");
  if (const auto& late = FieldOf(done, "timed_out"); late.is_bool() && late.as_bool())
    return Fail(ErrorCode::kTimeout,
                "the search took too long and was stopped; what is shown is not all: narrow it "
                "down with --host or --stage");
  const auto matches = static_cast<std::uint64_t>(NumberOf(done, "matches"));
  if (FieldOf(done, "more").as_bool())
    context.Say(fmt::format("stopped after {} matches; --limit N takes more", Count(matches)));
  else if (matches == 0)
    context.Say(fmt::format("no match in {} of output",
                            FormatSize(static_cast<std::uint64_t>(NumberOf(done, "bytes")))));
  return matches == 0 ? kExitNoMatch : 0;
}

}  // namespace muster::cli
