#include "domain/audit_facts.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "domain/approvals.hpp"
#include "domain/audit.hpp"
#include "domain/canonical.hpp"
#include "domain/channel.hpp"
#include "domain/secret.hpp"
#include "domain/wrap_batched.hpp"

namespace muster {
namespace {

constexpr std::size_t kMostStages = 32;
constexpr std::size_t kMostStageText = 300;
constexpr std::size_t kMostParams = 64;
constexpr std::size_t kMostParamText = 500;
constexpr std::size_t kMostNames = 64;

void AddBounded(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) != names.end()) return;
  if (names.size() < kMostNames) names.push_back(std::move(name));
}

std::string Shortened(std::string text, std::size_t most) {
  CutText(text, most);
  return text;
}

std::string TextOf(const RunSpec& plan, const StageSpec& stage) {
  if (const Command* command = CommandOf(stage)) return AuditText(*command, kMostStageText);
  if (const auto* http = std::get_if<HttpAction>(&stage.action))
    return fmt::format("{} {}", http->method, http->url);
  if (const auto* condition = std::get_if<ConditionAction>(&stage.action))
    return fmt::format("{} {}", condition->request.method, condition->request.url);
  if (const auto* notify = std::get_if<NotifyAction>(&stage.action))
    return fmt::format("{}: {}", notify->channel, notify->message);
  if (const auto* approve = std::get_if<ApproveAction>(&stage.action)) return approve->message;
  if (const auto* job = std::get_if<JobAction>(&stage.action)) {
    const auto child = plan.jobs.find(job->job);
    if (child == plan.jobs.end() || !child->second) return job->job;
    return fmt::format("{} version {}", job->job, child->second->version);
  }
  return {};
}

// "drain, upgrade": what a stage holds, in the order in which it is done.
std::string InnerText(const RunSpec& plan, std::uint32_t holder) {
  std::string names;
  for (const auto& stage : plan.stages)
    if (stage.parent == holder && stage.section != Section::kBetween)
      names += (names.empty() ? "" : ", ") + stage.name;
  return names;
}

// Hashes within one plan: a script may be long, and a job may be started by many stages.
struct Hashes {
  std::map<const RunSpec*, std::string> jobs = {};
  std::map<const Command*, std::string> commands = {};

  const std::string& Of(const Command& command) {
    std::string& hash = commands[&command];
    if (hash.empty()) hash = CommandHash(command);
    return hash;
  }
};

AuditStage StageFacts(const RunSpec& plan, const WrittenStage& written, Hashes& known) {
  const StageSpec& stage = plan.stages[written.work];
  const bool holds = std::holds_alternative<SequenceAction>(stage.action);
  AuditStage facts{.name = stage.name,
                   .action = std::string(ActionName(stage)),
                   .text = Shortened(holds ? InnerText(plan, written.work) : TextOf(plan, stage),
                                     kMostStageText),
                   .user = {},
                   .env = {},
                   .sha256 = {}};
  if (const Command* command = CommandOf(stage)) {
    facts.user = command->user;
    for (const auto& [name, value] : command->env) AddBounded(facts.env, name);
    facts.sha256 = known.Of(*command);
  }
  return facts;
}

// The secrets that a stage's tasks or requests are given.
void AddSecrets(std::vector<std::string>& names, const StageSpec& stage) {
  if (const Command* command = CommandOf(stage))
    for (const auto& use : command->secrets)
      AddBounded(names, fmt::format("{}={}{}", use.variable, kSecretPrefix, use.secret));
  const auto* http = std::get_if<HttpAction>(&stage.action);
  if (const auto* condition = std::get_if<ConditionAction>(&stage.action))
    http = &condition->request;
  if (http == nullptr) return;
  for (const auto& [name, value] : http->headers)
    if (const auto secret = SecretIn(value))
      AddBounded(names, fmt::format("header {}={}{}", name, kSecretPrefix, *secret));
}

// --- of a channel ---

// "hooks.example.com:8443" of "https://user@hooks.example.com:8443/T0K3N".
std::string HostIn(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos)
    url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#\\"));
  return Shortened(std::string(url.substr(url.rfind('@') + 1)), kMostStageText);
}

void AddSecret(AuditFacts& facts, std::string_view place, std::string_view text) {
  if (const auto secret = SecretIn(text))
    AddBounded(facts.secrets, fmt::format("{}={}{}", place, kSecretPrefix, *secret));
}

void AddPost(AuditFacts& facts, const std::string& url,
             const std::vector<std::pair<std::string, std::string>>& headers) {
  if (!NamesSecret(url)) facts.host = HostIn(url);
  AddSecret(facts, "url", url);
  for (const auto& [name, value] : headers) AddSecret(facts, "header " + name, value);
}

// --- the plan's hash ---

std::string HashOf(const RunSpec& plan, Hashes& known);

void AddApprove(Canonical& bytes, const ApproveAction& approve) {
  bytes.Text(approve.message).Texts(approve.by).Number(approve.not_starter ? 1 : 0);
  bytes.Number(static_cast<std::uint64_t>(approve.timeout.count()));
}

void AddHttp(Canonical& bytes, const HttpAction& http) {
  bytes.Text(http.method).Text(http.url).Text(http.body).Number(http.headers.size());
  for (const auto& [name, value] : http.headers) bytes.Text(name).Text(value);
  bytes.Number(http.expect.size());
  for (const std::uint16_t status : http.expect) bytes.Number(status);
  bytes.Number(http.outputs.size());
  for (const auto& [name, pointer] : http.outputs) bytes.Text(name).Text(pointer);
}

void AddAction(Canonical& bytes, const RunSpec& plan, const StageSpec& stage, Hashes& known) {
  bytes.Text(ActionName(stage));
  if (const Command* command = CommandOf(stage)) bytes.Text(known.Of(*command));
  if (const auto* approve = std::get_if<ApproveAction>(&stage.action)) AddApprove(bytes, *approve);
  if (const auto* http = std::get_if<HttpAction>(&stage.action)) AddHttp(bytes, *http);
  if (const auto* notify = std::get_if<NotifyAction>(&stage.action))
    bytes.Text(notify->channel).Text(notify->message);
  if (const auto* wait = std::get_if<WaitAction>(&stage.action))
    bytes.Number(static_cast<std::uint64_t>(wait->time.count())).Text(wait->until);
  if (const auto* condition = std::get_if<ConditionAction>(&stage.action)) {
    AddHttp(bytes, condition->request);
    bytes.Text(condition->value).Text(Name(condition->comparison)).Text(condition->bound);
    bytes.Number(static_cast<std::uint64_t>(condition->hold.count()));
    bytes.Number(static_cast<std::uint64_t>(condition->missing));
  }
  if (const auto* job = std::get_if<JobAction>(&stage.action)) {
    bytes.Text(job->job).Number(job->wait ? 1 : 0).Number(job->params.size());
    for (const auto& [name, value] : job->params) bytes.Text(name).Text(value);
    const auto child = plan.jobs.find(job->job);
    if (child != plan.jobs.end() && child->second) bytes.Text(HashOf(*child->second, known));
  }
}

void AddStage(Canonical& bytes, const RunSpec& plan, const StageSpec& stage, Hashes& known) {
  bytes.Text(stage.name).Number(static_cast<std::uint64_t>(stage.section));
  bytes.Number(stage.parent ? *stage.parent + std::uint64_t{1} : 0);
  AddAction(bytes, plan, stage, known);
  bytes.Text(Name(stage.hosts)).Text(stage.when).Number(stage.next.size());
  for (const auto& [outcome, target] : stage.next) bytes.Text(outcome).Number(target);
  bytes.Number(stage.needs ? stage.needs->size() + std::uint64_t{1} : 0);
  if (stage.needs)
    for (const std::uint32_t need : *stage.needs) bytes.Number(need);
  bytes.Number(stage.max_visits).Number(stage.recovers ? 1 : 0).Number(stage.retries.max);
  bytes.Number(static_cast<std::uint64_t>(stage.repeat));
  bytes.Number(static_cast<std::uint64_t>(stage.on_limit));
  bytes.Number(static_cast<std::uint64_t>(stage.between_wait.count()));
  bytes.Text(FormatBatchPlan(stage.batches)).Text(FormatHostShare(stage.max_failures));
  if (stage.max_unreachable)
    bytes.Text("max_unreachable").Text(FormatHostShare(*stage.max_unreachable));
  bytes.Number(stage.concurrency).Number(stage.between_approve ? 1 : 0);
  if (stage.between_approve) AddApprove(bytes, *stage.between_approve);
}

std::string HashOf(const RunSpec& plan, Hashes& known) {
  if (const auto found = known.jobs.find(&plan); found != known.jobs.end()) return found->second;
  Canonical bytes("muster.plan.2");
  bytes.Text(plan.job).Number(plan.version).Number(plan.params.size());
  for (const auto& param : plan.params)
    bytes.Text(param.name).Text(param.value).Number(param.secret ? 1 : 0);
  bytes.Number(plan.stages.size());
  for (const auto& stage : plan.stages) AddStage(bytes, plan, stage, known);
  return known.jobs[&plan] = bytes.Sha256();
}

// --- as text ---

std::string QuotedJson(std::string_view text) {
  if (!IsUtf8(text)) text = "(not text)";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

// An object whose empty parts are left out.
class JsonObject {
 public:
  JsonObject& Raw(std::string_view name, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "" : ",", name, value);
    return *this;
  }
  JsonObject& Text(std::string_view name, std::string_view value) {
    return Raw(name, value.empty() ? "" : QuotedJson(value));
  }
  JsonObject& Number(std::string_view name, std::uint64_t value) {
    return Raw(name, value == 0 ? "" : std::to_string(value));
  }
  JsonObject& Texts(std::string_view name, const std::vector<std::string>& values) {
    std::string list;
    for (const auto& value : values) list += (list.empty() ? "" : ",") + QuotedJson(value);
    return Raw(name, list.empty() ? "" : "[" + list + "]");
  }
  bool Empty() const { return text_.empty(); }
  std::string Done() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string ParamsText(const std::vector<Param>& params) {
  JsonObject object;
  for (const auto& param : params)
    object.Raw(param.name,
               QuotedJson((param.secret ? std::string(kSecretPrefix) : "") + param.value));
  return object.Empty() ? "" : object.Done();
}

std::string StagesText(const std::vector<AuditStage>& stages) {
  std::string list;
  for (const auto& stage : stages)
    list += (list.empty() ? "" : ",") + JsonObject()
                                            .Text("name", stage.name)
                                            .Text("action", stage.action)
                                            .Text("text", stage.text)
                                            .Text("user", stage.user)
                                            .Texts("env", stage.env)
                                            .Text("sha256", ToHex(stage.sha256))
                                            .Done();
  return list.empty() ? "" : "[" + list + "]";
}

}  // namespace

std::string PlanHash(const RunSpec& plan) {
  Hashes known;
  return HashOf(plan, known);
}

std::string PlanHash(const RunSpec& plan, std::map<const RunSpec*, std::string>& known) {
  Hashes hashes{.jobs = std::move(known)};
  auto hash = HashOf(plan, hashes);
  known = std::move(hashes.jobs);
  return hash;
}

AuditFacts FactsOf(const RunSpec& plan) {
  AuditFacts facts;
  Hashes known;
  facts.title = Shortened(plan.title, kMostStageText);
  facts.job = plan.job;
  facts.version = plan.version;
  for (const auto& param : plan.params) {
    if (facts.params.size() < kMostParams)
      facts.params.push_back({param.name, Shortened(param.value, kMostParamText), param.secret});
    if (param.secret)
      AddBounded(facts.secrets,
                 fmt::format("param {}={}{}", param.name, kSecretPrefix, param.value));
  }
  for (const auto& written : StagesAsWritten(plan)) {
    if (facts.stages.size() < kMostStages)
      facts.stages.push_back(StageFacts(plan, written, known));
    else
      ++facts.more_stages;
  }
  for (const auto& stage : plan.stages) {
    AddSecrets(facts.secrets, stage);
    if (const auto* notify = std::get_if<NotifyAction>(&stage.action))
      AddBounded(facts.channels, notify->channel);
  }
  for (const auto& notice : plan.notices) AddBounded(facts.channels, notice.channel);
  // The entry's own command says it already.
  if (facts.stages.size() == 1 && !facts.stages.front().sha256.empty())
    facts.stages.front().text.clear();
  for (const auto& approval : ApprovalsIn(plan)) AddBounded(facts.approvals, approval.name);
  facts.plan_sha256 = HashOf(plan, known);
  return facts;
}

AuditFacts FactsOf(const Channel& channel) {
  AuditFacts facts;
  if (const auto* webhook = std::get_if<WebhookChannel>(&channel.way))
    AddPost(facts, webhook->url, webhook->headers);
  if (const auto* chat = std::get_if<ChatChannel>(&channel.way))
    AddPost(facts, chat->url, chat->headers);
  if (const auto* mail = std::get_if<MailChannel>(&channel.way)) {
    facts.host = HostIn(mail->server);
    AddSecret(facts, "password", mail->password);
  }
  return facts;
}

std::string DetailWith(std::string sentence, const AuditFacts& facts) {
  std::ranges::replace(sentence, '\n', ' ');
  JsonObject object;
  object.Text("title", facts.title).Text("job", facts.job).Number("version", facts.version);
  object.Text("trigger", facts.trigger).Text("parent", facts.parent);
  object.Raw("params", ParamsText(facts.params));
  object.Raw("stages", StagesText(facts.stages)).Number("more_stages", facts.more_stages);
  object.Text("content_sha256", ToHex(facts.content_sha256));
  object.Text("plan_sha256", ToHex(facts.plan_sha256)).Texts("secrets", facts.secrets);
  object.Text("host", facts.host).Texts("channels", facts.channels);
  object.Texts("approvals", facts.approvals).Texts("starters", facts.starters);
  object.Text("stage", facts.stage).Number("batch", facts.batch).Number("pass", facts.pass);
  return object.Empty() ? sentence : sentence + "\n" + object.Done();
}

DetailParts SplitDetail(std::string_view detail) {
  const auto end = detail.find('\n');
  if (end == std::string_view::npos || !detail.substr(end + 1).starts_with('{') ||
      !detail.ends_with('}'))
    return {detail, {}};
  return {detail.substr(0, end), detail.substr(end + 1)};
}

}  // namespace muster
