#include "adapters/records/records.hpp"

#include "adapters/records/compress.hpp"
#include "adapters/records/describe_documents.hpp"
#include "adapters/records/describe_hosts.hpp"
#include "adapters/records/describe_runs.hpp"
#include "adapters/records/describe_triggers.hpp"

namespace muster::records {
namespace {

// Those that are large or repeat themselves: a run on 10,000 hosts has their names.
template <typename T>
constexpr bool kPacked = std::same_as<T, Run> || std::same_as<T, StageVisit> ||
                         std::same_as<T, Targets> || std::same_as<T, Document>;

struct TargetColumns {
  std::vector<HostId> hosts;
  std::vector<std::string> names;
};

}  // namespace

template <>
struct Description<TargetColumns> {
  static constexpr std::tuple kFields{Field(1, &TargetColumns::hosts),
                                      Field(2, &TargetColumns::names)};
};

template <typename T>
Result<std::string> Encode(const T& record) {
  WireWriter out;
  PutFields(out, record);
  if constexpr (kPacked<T>)
    return Pack(std::move(out).Take());
  else
    return std::move(out).Take();
}

template <typename T>
Result<T> Decode(std::string_view blob) {
  T record{};
  Result<> taken;
  if constexpr (kPacked<T>) {
    const auto raw = Unpack(blob);
    taken = raw ? TakeFields(*raw, record) : Fail(raw.error());
  } else {
    taken = TakeFields(blob, record);
  }
  if (!taken) return Fail(taken.error());
  return record;
}

template <>
Result<std::string> Encode(const Targets& targets) {
  TargetColumns columns;
  for (const auto& target : targets) {
    columns.hosts.push_back(target.host);
    columns.names.push_back(target.name);
  }
  WireWriter out;
  PutFields(out, columns);
  return Pack(std::move(out).Take());
}

template <>
Result<Targets> Decode(std::string_view blob) {
  const auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  TargetColumns columns;
  if (auto taken = TakeFields(*raw, columns); !taken) return Fail(taken.error());
  if (columns.hosts.size() != columns.names.size())
    return Fail(ErrorCode::kInternal, "record: {} targets with {} names", columns.hosts.size(),
                columns.names.size());
  Targets targets;
  targets.reserve(columns.hosts.size());
  for (std::size_t i = 0; i < columns.hosts.size(); ++i)
    targets.push_back({.host = columns.hosts[i], .name = std::move(columns.names[i])});
  return targets;
}

std::string EncodeTaskRest(const TaskRecord& task) {
  WireWriter out;
  PutFields(out, task);
  return std::move(out).Take();
}

Result<> DecodeTaskRest(std::string_view blob, TaskRecord* task) { return TakeFields(blob, *task); }

template Result<std::string> Encode(const Host&);
template Result<std::string> Encode(const Invite&);
template Result<std::string> Encode(const PendingJoin&);
template Result<std::string> Encode(const Freeze&);
template Result<std::string> Encode(const Secret&);
template Result<std::string> Encode(const OpenNotice&);
template Result<std::string> Encode(const StopWish&);
template Result<std::string> Encode(const Run&);
template Result<std::string> Encode(const StageVisit&);
template Result<std::string> Encode(const Document&);
template Result<std::string> Encode(const DocumentHead&);
template Result<std::string> Encode(const Trigger&);
template Result<std::string> Encode(const SlotRecord&);
template Result<Host> Decode(std::string_view);
template Result<Invite> Decode(std::string_view);
template Result<PendingJoin> Decode(std::string_view);
template Result<Freeze> Decode(std::string_view);
template Result<Secret> Decode(std::string_view);
template Result<OpenNotice> Decode(std::string_view);
template Result<StopWish> Decode(std::string_view);
template Result<Run> Decode(std::string_view);
template Result<StageVisit> Decode(std::string_view);
template Result<Document> Decode(std::string_view);
template Result<DocumentHead> Decode(std::string_view);
template Result<Trigger> Decode(std::string_view);
template Result<SlotRecord> Decode(std::string_view);

}  // namespace muster::records
