#include "cli/completion_values.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <boost/json.hpp>

#include "cli/api_client.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kMostHosts = "200";
constexpr const char* kSample = "500";  // hosts whose labels are looked at

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
    Query query{{"limit", kMostHosts}};
    if (!begin.empty()) query.emplace_back("targets", begin + "*");
    for (const auto& host : List("/hosts", query, "hosts"))
      hosts.push_back({TextOf(host, "name"), FlagOf(host, "online") ? "online" : "offline"});
    return hosts;
  }

  std::vector<Candidate> Runs() {
    std::vector<Candidate> runs;
    for (const auto& run : List("/runs", {{"limit", "30"}}, "runs")) {
      const auto title = LineOf(run, "title").substr(0, 60);
      runs.push_back({TextOf(run, "id"), fmt::format("{}, {}", LineOf(run, "state"), title)});
    }
    return runs;
  }

  // Values by label.
  std::map<std::string, std::set<std::string>> Labels() {
    std::map<std::string, std::set<std::string>> labels;
    for (const auto& host : List("/hosts", {{"limit", kSample}}, "hosts")) {
      const auto* object = FieldOf(host, "labels").if_object();
      if (object == nullptr) continue;
      for (const auto& [key, value] : *object)
        if (value.is_string()) labels[key].insert(std::string(value.get_string()));
    }
    return labels;
  }

 private:
  json::array List(std::string_view path, const Query& query, std::string_view field) {
    if (!api_) return {};
    const auto answer = api_->Get(path, query);
    return answer ? ListOf(*answer, field) : json::array();
  }

  Result<ApiClient> api_;
};

std::vector<Candidate> TermCandidates(Source& source, const std::string& term) {
  std::vector<Candidate> found;
  if (term.starts_with("run:")) {
    for (const auto& run : source.Runs()) {
      found.push_back({"run:" + run.value, run.about});
      found.push_back({"run:" + run.value + ".failed", run.about});
    }
    return found;
  }
  const auto labels = source.Labels();
  if (const auto equals = term.find('='); equals != std::string::npos) {
    const auto key = labels.find(term.substr(0, equals));
    if (key == labels.end()) return found;
    for (const auto& value : key->second)
      if (!value.empty() && IsPlain(value))
        found.push_back({fmt::format("{}={}", key->first, value), {}});
    return found;
  }
  found = source.Hosts(term);
  for (const auto& [key, values] : labels)
    found.push_back({key + "=", fmt::format("label, {} values", values.size())});
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
      found = source.Runs();
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
