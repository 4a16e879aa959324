#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "domain/records.hpp"

// Turns records into the blobs a store keeps, and back. records.proto says what is inside. Decoding
// answers kInternal for a blob that no Muster wrote: the disk or the store is damaged. Encoding of
// what is compressed answers kInternal when it is larger than what decoding takes.
namespace muster::records {

std::string EncodeHost(const Host& host);
Result<Host> DecodeHost(std::string_view blob);

std::string EncodeInvite(const Invite& invite);
Result<Invite> DecodeInvite(std::string_view blob);

std::string EncodeFreeze(const Freeze& freeze);
Result<Freeze> DecodeFreeze(std::string_view blob);

std::string EncodePending(const PendingJoin& pending);
Result<PendingJoin> DecodePending(std::string_view blob);

std::string EncodeSecret(const Secret& secret);
Result<Secret> DecodeSecret(std::string_view blob);

std::string EncodeNotice(const OpenNotice& notice);
Result<OpenNotice> DecodeNotice(std::string_view blob);

// A run without its plan, as PutRun says (domain/run_row.hpp). Rows made before plans had rows of
// their own hold the stages of theirs: decoding puts them into `spec.stages`, which is empty for
// every other row.
Result<std::string> EncodeRun(const Run& run);
Result<Run> DecodeRun(std::string_view blob);

// Compressed: a plan carries its scripts.
Result<std::string> EncodePlan(const RunSpec& plan);
Result<RunSpec> DecodePlan(std::string_view blob);

Result<std::string> EncodeVisit(const StageVisit& visit);
Result<StageVisit> DecodeVisit(std::string_view blob);

// Compressed: a run on 10,000 hosts repeats their names.
Result<std::string> EncodeTargets(const Targets& targets);
Result<std::shared_ptr<const Targets>> DecodeTargets(std::string_view blob);

// Compressed: a document carries its scripts.
Result<std::string> EncodeDocument(const Document& document);
Result<Document> DecodeDocument(std::string_view blob);
std::string EncodeDocumentHead(const DocumentHead& head);
Result<DocumentHead> DecodeDocumentHead(std::string_view blob);
// Heads that were written before they had `by` and `at` get both from their documents. `read` reads
// the document of a head; only one of them is in memory at a time.
using ReadDocumentOf = std::function<Result<std::optional<Document>>(const DocumentHead&)>;
Result<> FillOldHeads(std::vector<DocumentHead>& heads, const ReadDocumentOf& read);

// Without `dropped`, which its row says.
std::string EncodeTrigger(const Trigger& trigger);
Result<Trigger> DecodeTrigger(std::string_view blob);
std::string EncodeSlot(const SlotRecord& slot);
Result<SlotRecord> DecodeSlot(std::string_view blob);

std::string EncodeWish(const StopWish& wish);
Result<StopWish> DecodeWish(std::string_view blob);

// The part of a task attempt that is rare or never asked for by value: the node's word, reasons,
// hashes, marks. "" when there is nothing to say, as for every attempt just sent. Decoding fills
// those fields of `task` and leaves the rest.
std::string EncodeTaskRest(const TaskRecord& task);
Result<> DecodeTaskRest(std::string_view blob, TaskRecord* task);

}  // namespace muster::records
