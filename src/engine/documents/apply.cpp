#include "engine/documents/apply.hpp"

#include "domain/audit_facts.hpp"
#include "engine/keeping/gates.hpp"
#include "engine/triggers/apply.hpp"

namespace muster::engine {
namespace {

void AuditDocument(Turn& turn, const Caller& caller, const std::string& reason,
                   std::string_view verb, const DocumentHead& head, AuditFacts facts = {}) {
  AuditEntry entry;
  entry.act = fmt::format("{}.{}", head.kind, verb);
  entry.object = fmt::format("{} {}", head.kind, head.name);
  facts.content_sha256 = head.hash;
  entry.detail = DetailWith(fmt::format("version {}", head.version), facts);
  entry.reason = reason;
  turn.Audit(caller, std::move(entry));
}

// The labels of a host that is known follow its document; those that others gave it stay.
void Relabel(Turn& turn, const std::string& name, const Labels& before, const Labels& now) {
  const auto id = turn.state.hosts.by_name.find(name);
  if (id == turn.state.hosts.by_name.end()) return;
  HostEntry& entry = turn.state.hosts.entries.at(id->second);
  Labels labels = entry.host.labels;
  for (const auto& [key, value] : before) {
    const auto has = labels.find(key);
    if (!now.contains(key) && has != labels.end() && has->second == value) labels.erase(has);
  }
  for (const auto& [key, value] : now) labels[key] = value;
  const auto own = entry.host.own_labels;
  for (const auto& [key, value] : now) TakeOver(entry.host, key);
  if (labels == entry.host.labels && own == entry.host.own_labels) return;
  entry.host.labels = std::move(labels);
  turn.Put(PutHost{entry.host});
  turn.Tell(HostNews{entry.host, entry.Online(), entry.address});
}

// The next version of a document, unless it says what the latest says. `head` moves on to it.
DocumentsApplied::One PutOne(Turn& turn, const ApplyDocuments& command, const Document& given,
                             DocumentHead& head) {
  const bool there = head.version > 0 && !head.dropped;
  if (there && head.hash == given.hash)
    return {given.kind, given.name, head.version, DocumentFate::kUnchanged};
  auto document = std::make_shared<Document>(given);
  document->version = head.version + 1;
  document->by = command.caller.name;
  document->at = turn.now.wall;
  const Labels before = there ? head.labels : Labels{};
  head = HeadOf(*document);
  if (given.kind == "host") Relabel(turn, given.name, before, head.labels);
  turn.Put(PutDocument{std::move(document)});
  const auto channel = command.channels.find(given.name);
  const bool is_channel = given.kind == "channel" && channel != command.channels.end();
  AuditDocument(turn, command.caller, command.reason, "apply", head,
                is_channel ? FactsOf(channel->second) : AuditFacts{});
  return {head.kind, head.name, head.version,
          there ? DocumentFate::kChanged : DocumentFate::kCreated};
}

DocumentsApplied::One Put(Turn& turn, const ApplyDocuments& command, const Document& given) {
  if (given.kind != kTriggerKind)
    return PutOne(turn, command, given, turn.state.documents.heads[{given.kind, given.name}]);
  const AppliedTrigger& trigger = command.triggers.at(given.name);
  DocumentHead head = TriggerHead(turn, given.name, trigger);
  auto put = PutOne(turn, command, given, head);
  if (put.fate != DocumentFate::kUnchanged) ApplyTrigger(turn, trigger, head, command.caller.name);
  return put;
}

bool DropOne(Turn& turn, const Caller& caller, const std::string& reason, DocumentHead& head) {
  if (head.version == 0 || head.dropped) return false;
  head.dropped = true;
  turn.Put(DropDocument{head.kind, head.name});
  AuditDocument(turn, caller, reason, "delete", head);
  return true;
}

DocumentsApplied::One Drop(Turn& turn, const ApplyDocuments& command, const std::string& kind,
                           const std::string& name) {
  DocumentHead head{.kind = kind, .name = name, .files = {}};
  bool dropped = false;
  if (kind == kTriggerKind) {
    const AppliedTrigger& trigger = command.triggers.at(name);
    head = TriggerHead(turn, name, trigger);
    dropped = DropOne(turn, command.caller, command.reason, head);
    if (dropped) DropTriggerOf(turn, name, trigger);
  } else if (const auto found = turn.state.documents.heads.find({kind, name});
             found != turn.state.documents.heads.end()) {
    dropped = DropOne(turn, command.caller, command.reason, found->second);
    head = found->second;
  }
  if (!dropped) return {kind, name, 0, DocumentFate::kMissing};
  return {kind, name, head.version, DocumentFate::kDeleted};
}

}  // namespace

bool DropDocumentOf(Turn& turn, const Caller& caller, const std::string& kind,
                    const std::string& name, const std::string& reason) {
  const auto found = turn.state.documents.heads.find({kind, name});
  return found != turn.state.documents.heads.end() && DropOne(turn, caller, reason, found->second);
}

void Decide(Turn& turn, const ApplyDocuments& command) {
  if (const auto closed = ClosedOutside(turn.state); closed && !command.puts.empty())
    return turn.Answer(command, Fail(ErrorCode::kUnavailable, "{}", closed->reason));
  if (const auto checked = CheckTriggers(turn, command); !checked)
    return turn.Answer(command, Fail(checked.error()));
  DocumentsApplied answer;
  for (const auto& document : command.puts)
    answer.documents.push_back(Put(turn, command, *document));
  for (const auto& [kind, name] : command.drops)
    answer.documents.push_back(Drop(turn, command, kind, name));
  turn.Answer(command, std::move(answer));
}

const DocumentHead* ExpectedHost(const State& state, const std::string& name) {
  const auto found = state.documents.heads.find({"host", name});
  return found == state.documents.heads.end() || found->second.dropped ? nullptr : &found->second;
}

void LoadDocuments(State& state, Snapshot& snapshot) {
  for (auto& head : snapshot.documents) {
    const std::pair key{head.kind, head.name};
    state.documents.heads[key] = std::move(head);
  }
}

}  // namespace muster::engine
