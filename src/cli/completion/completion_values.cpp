#include "cli/completion/completion_values.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "documents/kinds.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kMostOffered = "200";  // of what begins as it was typed

// Needs no quotes, neither for the shell nor for the target language.
bool IsPlain(std::string_view text, std::string_view more = "") {
  return std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./:").find(c) != std::string_view::npos ||
           more.find(c) != std::string_view::npos;
  });
}

bool IsNameStart(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// Speaks to the server at most twice, and gives what it heard.
class Source {
 public:
  explicit Source(const Context& context) : api_(ApiClient::Open(context)) {}

  std::vector<Candidate> Hosts(const std::string& begin) {
    std::vector<Candidate> hosts;
    if (!IsNameStart(begin)) return hosts;
    Query query{{"limit", kMostOffered}};
    if (!begin.empty()) query.emplace_back("targets", begin + "*");
    for (const auto& host : List("/hosts", query, "hosts"))
      hosts.push_back({TextOf(host, "name"), FlagOf(host, "online") ? "online" : "offline"});
    return hosts;
  }

  // The newest of those that begin so, and the one of exactly this id.
  std::vector<Candidate> Runs(const std::string& begin) {
    std::vector<Candidate> runs;
    if (!IsNameStart(begin)) return runs;
    for (const auto& run : List("/runs", {{"prefix", begin}, {"limit", kMostOffered}}, "runs"))
      runs.push_back(CandidateOf(run));
    // Of many that begin so it is the oldest.
    if (runs.size() > 1 && api_)
      if (const auto exact = api_->Get("/runs/" + Segment(begin));
          exact && TextOf(*exact, "id") == begin) {
        std::erase_if(runs, [&](const Candidate& run) { return run.value == begin; });
        runs.insert(runs.begin(), CandidateOf(*exact));
      }
    return runs;
  }

  // Names of documents of a kind that begin so.
  std::vector<Candidate> Documents(const std::string& kind, const std::string& begin) {
    const Query query{{"kind", kind}, {"prefix", begin}, {"limit", kMostOffered}};
    return Named("/documents", query, "documents", [](const json::value& document) {
      return fmt::format("version {}", NumberOf(document, "version"));
    });
  }

  std::vector<Candidate> Jobs(const std::string& begin) {
    if (!IsNameStart(begin)) return {};
    return Named("/jobs", {{"name", begin + "*"}, {"limit", kMostOffered}}, "jobs",
                 [](const json::value& job) { return LineOf(job, "description").substr(0, 60); });
  }

  std::vector<Candidate> Secrets() {
    return Named("/secrets", {}, "secrets", [](const json::value&) { return std::string(); });
  }

  std::vector<Candidate> Tokens() {
    return Named("/tokens", {}, "tokens",
                 [](const json::value& token) { return LineOf(token, "role"); });
  }

  // Labels and facts, as an expression begins with them: "rack=".
  std::vector<Candidate> LabelKeys(const std::string& begin) {
    std::vector<Candidate> keys;
    for (const auto& label :
         List("/labels", {{"prefix", begin}, {"limit", kMostOffered}}, "labels"))
      keys.push_back(
          {TextOf(label, "key") + "=", fmt::format("{} values", NumberOf(label, "values"))});
    return keys;
  }

  // Terms with a key and its values: "rack=r1".
  std::vector<Candidate> LabelTerms(const std::string& key, const std::string& begin) {
    std::vector<Candidate> terms;
    const Query query{{"key", key}, {"prefix", begin}, {"limit", kMostOffered}};
    for (const auto& label : List("/labels", query, "labels"))
      if (const auto value = TextOf(label, "value"); !value.empty() && IsPlain(value))
        terms.push_back({fmt::format("{}={}", key, value),
                         muster::cli::Hosts(static_cast<std::uint64_t>(NumberOf(label, "hosts")))});
    return terms;
  }

 private:
  static Candidate CandidateOf(const json::value& run) {
    return {TextOf(run, "id"),
            fmt::format("{}, {}", LineOf(run, "state"), LineOf(run, "title").substr(0, 60))};
  }

  json::array List(std::string_view path, const Query& query, std::string_view field) {
    if (!api_) return {};
    const auto answer = api_->Get(path, query);
    return answer ? ListOf(*answer, field) : json::array();
  }

  std::vector<Candidate> Named(std::string_view path, const Query& query, std::string_view field,
                               std::string (*about)(const json::value&)) {
    std::vector<Candidate> found;
    for (const auto& one : List(path, query, field))
      found.push_back({TextOf(one, "name"), about(one)});
    return found;
  }

  Result<ApiClient> api_;
};

std::vector<Candidate> TermCandidates(Source& source, const std::string& term) {
  std::vector<Candidate> found;
  if (term.starts_with("run:")) {
    for (const auto& run : source.Runs(term.substr(4, term.find('.', 4 + 2) - 4))) {
      found.push_back({"run:" + run.value, run.about});
      found.push_back({"run:" + run.value + ".failed", run.about});
    }
    return found;
  }
  if (term.starts_with('@')) {
    found = source.Documents("group", term.substr(1));
    for (auto& group : found) group.value.insert(0, 1, '@');
    return found;
  }
  if (const auto equals = term.find('='); equals != std::string::npos)
    return source.LabelTerms(term.substr(0, equals), term.substr(equals + 1));
  found = source.Hosts(term);
  for (auto& key : source.LabelKeys(term)) found.push_back(std::move(key));
  found.push_back({"all", "every host"});
  found.push_back({"run:", "hosts of a run"});
  return found;
}

std::vector<Candidate> TargetCandidates(Source& source, const std::string& text) {
  const auto begin = TermBegin(text);
  auto found = TermCandidates(source, text.substr(begin));
  for (auto& candidate : found) candidate.value.insert(0, text, 0, begin);
  return found;
}

std::vector<Candidate> ContextCandidates() {
  std::vector<Candidate> found;
  if (const auto contexts = Contexts::Load(Contexts::DefaultFolder()))
    for (const auto& saved : contexts->All()) found.push_back({saved.name, saved.server});
  return found;
}

}  // namespace

std::vector<Candidate> CandidatesFor(Context& context, const Wanted& wanted) {
  context.flags = wanted.flags;
  context.call_timeout = std::chrono::seconds(1);
  context.Settle();
  Source source(context);
  std::vector<Candidate> found;
  switch (wanted.kind) {
    case ValueKind::kNothing:
    case ValueKind::kFiles:
      break;
    case ValueKind::kWords:
      found = wanted.words;
      break;
    case ValueKind::kContexts:
      found = ContextCandidates();
      break;
    case ValueKind::kHosts:
      found = source.Hosts(wanted.text);
      break;
    case ValueKind::kRuns:
      found = source.Runs(wanted.text);
      break;
    case ValueKind::kJobs:
      found = source.Jobs(wanted.text);
      break;
    case ValueKind::kSecrets:
      found = source.Secrets();
      break;
    case ValueKind::kTokens:
      found = source.Tokens();
      break;
    case ValueKind::kDocuments:
      if (const auto* row = documents::FindKind(wanted.before))
        found = source.Documents(std::string(row->name), wanted.text);
      break;
    case ValueKind::kTargets:
      found = TargetCandidates(source, wanted.text);
      break;
  }
  // The shell puts a value into the line as it is: of the server's only plain ones are offered, so
  // that none of them is a command there.
  if (wanted.kind != ValueKind::kWords)
    std::erase_if(found, [&](const Candidate& c) {
      return !IsPlain(c.value.substr(std::min(wanted.text.size(), c.value.size())), "=,");
    });
  std::erase_if(found, [&](const Candidate& c) { return !c.value.starts_with(wanted.text); });
  return found;
}

}  // namespace muster::cli
