#include <memory>
#include <unordered_map>
#include <vector>

#include "adapters/records/compress.hpp"
#include "adapters/records/describe_runs.hpp"
#include "adapters/records/records.hpp"

// A plan is a list of specs. The last is the run's own; before it stand the jobs that it starts,
// each behind those that it starts itself. Jobs that several specs start are written once: jobs
// that start jobs would double with every level otherwise.
namespace muster::records {
namespace {

constexpr std::uint32_t kSpecs = 1;  // of the plan
constexpr std::uint32_t kJobs = 11;  // of a spec: a name, and the place of a spec before it
constexpr std::uint32_t kJobName = 1;
constexpr std::uint32_t kJobPlace = 2;

class PlanWriter {
 public:
  std::uint32_t Add(const RunSpec& spec) {
    if (const auto found = places_.find(&spec); found != places_.end()) return found->second;
    std::vector<std::pair<const std::string*, std::uint32_t>> jobs;
    for (const auto& [name, job] : spec.jobs) jobs.emplace_back(&name, Add(*job));
    const std::size_t begun = out_.Begin(kSpecs);
    PutFields(out_, spec);
    for (const auto& [name, place] : jobs) {
      const std::size_t job = out_.Begin(kJobs);
      out_.Bytes(kJobName, *name);
      out_.Number(kJobPlace, place);
      out_.End(job);
    }
    out_.End(begun);
    const auto place = static_cast<std::uint32_t>(places_.size());
    places_.emplace(&spec, place);
    return place;
  }
  std::string Take() && { return std::move(out_).Take(); }

 private:
  WireWriter out_;
  std::unordered_map<const RunSpec*, std::uint32_t> places_;
};

using Specs = std::vector<std::shared_ptr<const RunSpec>>;

Result<> TakeJob(std::string_view bytes, const Specs& before, RunSpec& spec) {
  std::string name;
  std::uint64_t place = 0;
  WireReader in(bytes);
  while (true) {
    const auto more = in.Next();
    if (!more) return Fail(more.error());
    if (!*more) break;
    Result<> taken;
    if (in.Field() == kJobName) taken = TakeValue(in, Plain(), name);
    if (in.Field() == kJobPlace) taken = TakeValue(in, Plain(), place);
    if (!taken) return taken;
  }
  if (place >= before.size())
    return Fail(ErrorCode::kInternal, "record: a plan names job {} of {}", place, before.size());
  spec.jobs.emplace(std::move(name), before[place]);
  return {};
}

Result<RunSpec> TakeSpec(std::string_view bytes, const Specs& before) {
  RunSpec spec;
  if (auto taken = TakeFields(bytes, spec); !taken) return Fail(taken.error());
  WireReader in(bytes);
  while (true) {
    const auto more = in.Next();
    if (!more) return Fail(more.error());
    if (!*more) return spec;
    if (in.Field() != kJobs) continue;
    const auto job = in.Bytes();
    auto taken = job ? TakeJob(*job, before, spec) : Fail(job.error());
    if (!taken) return Fail(taken.error());
  }
}

}  // namespace

template <>
Result<std::string> Encode(const RunSpec& plan) {
  PlanWriter writer;
  writer.Add(plan);
  return Pack(std::move(writer).Take());
}

template <>
Result<RunSpec> Decode(std::string_view blob) {
  const auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  Specs specs;
  WireReader in(*raw);
  while (true) {
    const auto more = in.Next();
    if (!more) return Fail(more.error());
    if (!*more) break;
    if (in.Field() != kSpecs) continue;
    const auto bytes = in.Bytes();
    auto spec = bytes ? TakeSpec(*bytes, specs) : Fail(bytes.error());
    if (!spec) return Fail(spec.error());
    specs.push_back(std::make_shared<const RunSpec>(std::move(*spec)));
  }
  if (specs.empty()) return Fail(ErrorCode::kInternal, "record: an empty plan");
  return RunSpec(*specs.back());
}

}  // namespace muster::records
