#include "engine/documents/apply.hpp"

#include "engine/triggers/applying.hpp"

namespace muster::engine {
namespace {

void AuditDocument(Turn& turn, const Caller& caller, const std::string& reason,
                   std::string_view verb, const DocumentHead& head) {
  AuditEntry entry;
  entry.act = fmt::format("{}.{}", head.kind, verb);
  entry.object = fmt::format("{} {}", head.kind, head.name);
  entry.detail = fmt::format("version {}", head.version);
  entry.reason = reason;
  turn.Audit(caller, std::move(entry));
}

// The labels of a host that is known follow its document; those that others gave it stay.
void Relabel(Turn& turn, const std::string& name, const Labels& before, const Labels& now) {
  const auto id = turn.state.host_by_name.find(name);
  if (id == turn.state.host_by_name.end()) return;
  HostEntry& entry = turn.state.hosts.at(id->second);
  Labels labels = entry.host.labels;
  for (const auto& [key, value] : before) {
    const auto has = labels.find(key);
    if (!now.contains(key) && has != labels.end() && has->second == value) labels.erase(has);
  }
  for (const auto& [key, value] : now) labels[key] = value;
  if (labels == entry.host.labels) return;
  entry.host.labels = std::move(labels);
  turn.Put(PutHost{entry.host});
  turn.Tell(HostNews{entry.host, entry.Online(), entry.address});
}

const AppliedTrigger* TriggerOf(const ApplyDocuments& command, std::string_view kind,
                                const std::string& name) {
  if (kind != "trigger") return nullptr;
  const auto found = command.triggers.find(name);
  return found == command.triggers.end() ? nullptr : &found->second;
}

DocumentsApplied::One PutOne(Turn& turn, const ApplyDocuments& command, const Document& given) {
  DocumentHead& head = turn.state.documents[{given.kind, given.name}];
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
  AuditDocument(turn, command.caller, command.reason, "apply", head);
  if (const AppliedTrigger* trigger = TriggerOf(command, given.kind, given.name))
    ApplyTrigger(turn, *trigger, head.version, command.caller.name);
  return {head.kind, head.name, head.version,
          there ? DocumentFate::kChanged : DocumentFate::kCreated};
}

DocumentsApplied::One DropOne(Turn& turn, const ApplyDocuments& command, const std::string& kind,
                              const std::string& name) {
  if (!DropDocumentOf(turn, command.caller, kind, name, command.reason))
    return {kind, name, 0, DocumentFate::kMissing};
  if (const AppliedTrigger* trigger = TriggerOf(command, kind, name))
    DropTriggerOf(turn, name, *trigger);
  return {kind, name, turn.state.documents.at({kind, name}).version, DocumentFate::kDeleted};
}

}  // namespace

bool DropDocumentOf(Turn& turn, const Caller& caller, const std::string& kind,
                    const std::string& name, const std::string& reason) {
  const auto found = turn.state.documents.find({kind, name});
  if (found == turn.state.documents.end() || found->second.dropped) return false;
  found->second.dropped = true;
  turn.Put(DropDocument{kind, name});
  AuditDocument(turn, caller, reason, "delete", found->second);
  return true;
}

void Decide(Turn& turn, const ApplyDocuments& command) {
  if (const auto checked = CheckTriggers(turn, command); !checked)
    return turn.Answer(command.caller, Fail(checked.error()));
  DocumentsApplied answer;
  for (const auto& document : command.puts)
    answer.documents.push_back(PutOne(turn, command, *document));
  for (const auto& [kind, name] : command.drops)
    answer.documents.push_back(DropOne(turn, command, kind, name));
  turn.Answer(command.caller, std::move(answer));
}

const DocumentHead* ExpectedHost(const State& state, const std::string& name) {
  const auto found = state.documents.find({"host", name});
  return found == state.documents.end() || found->second.dropped ? nullptr : &found->second;
}

}  // namespace muster::engine
