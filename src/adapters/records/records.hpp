#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "domain/records.hpp"

// Turns records into the blobs a store keeps, and back. Their fields are described once, in
// describe_*.hpp.
//
// Records: Host, Invite, PendingJoin, Freeze, Secret, OpenNotice, StopWish, DocumentHead, Trigger,
// SlotRecord; and, compressed, Run (without its plan, domain/run_row.hpp), RunSpec (a plan),
// StageVisit, Targets, Document.
namespace muster::records {

// kInternal for a compressed record that is larger than Decode takes.
template <typename T>
Result<std::string> Encode(const T& record);

// kInternal for a blob that no Muster wrote: the disk or the store is damaged.
template <typename T>
Result<T> Decode(std::string_view blob);

template <>
Result<std::string> Encode(const RunSpec& plan);
template <>
Result<RunSpec> Decode(std::string_view blob);
template <>
Result<std::string> Encode(const Targets& targets);
template <>
Result<Targets> Decode(std::string_view blob);

// The part of a task attempt that has no columns: the node's report, reasons, hashes, marks. ""
// when there is nothing to say, as for every attempt just sent. Decoding fills those fields of
// `task` and leaves the rest.
std::string EncodeTaskRest(const TaskRecord& task);
Result<> DecodeTaskRest(std::string_view blob, TaskRecord* task);

}  // namespace muster::records
