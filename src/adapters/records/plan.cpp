#include <unordered_map>

#include "adapters/records/compress.hpp"
#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"

namespace muster::records {
namespace {

void PutWords(const RunSpec& spec, wire::RunSpec* out) {
  out->set_title(spec.title);
  out->set_targets(spec.targets);
  out->set_job(spec.job);
  out->set_version(spec.version);
  out->set_left_out(spec.left_out);
  PutPairs(spec.data, out->mutable_data());
  for (const auto& param : spec.params) {
    auto* item = out->add_params();
    item->set_name(param.name);
    item->set_value(param.value);
    item->set_secret(param.secret);
  }
  for (const auto& notice : spec.notices) {
    auto* item = out->add_notices();
    for (const auto& on : notice.on) item->add_on(on);
    item->set_channel(notice.channel);
  }
}

void TakeWords(const wire::RunSpec& in, RunSpec* spec) {
  spec->title = in.title();
  spec->targets = in.targets();
  spec->job = in.job();
  spec->version = in.version();
  spec->left_out = in.left_out();
  spec->data = TakePairs(in.data());
  for (const auto& item : in.params())
    spec->params.push_back({.name = item.name(), .value = item.value(), .secret = item.secret()});
  for (const auto& item : in.notices())
    spec->notices.push_back(
        {.on = {item.on().begin(), item.on().end()}, .channel = item.channel()});
}

void PutRules(const std::vector<ParamSpec>& rules, wire::RunSpec* out) {
  for (const auto& rule : rules) {
    auto* item = out->add_accepts();
    item->set_name(rule.name);
    item->set_type(static_cast<std::uint32_t>(rule.type));
    item->set_regex(rule.pattern);
    for (const auto& choice : rule.choices) item->add_choices(choice);
  }
}

Result<std::vector<ParamSpec>> TakeRules(const wire::RunSpec& in) {
  std::vector<ParamSpec> rules;
  for (const auto& item : in.accepts()) {
    const auto type = TakeEnum(item.type(), ParamType::kSecret);
    if (!type) return Fail(type.error());
    rules.push_back({.name = item.name(),
                     .type = *type,
                     .pattern = item.regex(),
                     .choices = {item.choices().begin(), item.choices().end()}});
  }
  return rules;
}

// Gathers a spec behind those it names. Jobs that several specs share are gathered once: jobs that
// start jobs would double with every level otherwise.
class Gatherer {
 public:
  explicit Gatherer(wire::Plan* plan) : plan_(plan) {}

  std::uint32_t Add(const RunSpec& spec) {
    if (const auto found = places_.find(&spec); found != places_.end()) return found->second;
    wire::RunSpec out;
    for (const auto& [name, job] : spec.jobs) {
      auto* child = out.add_jobs();
      child->set_name(name);
      child->set_spec(Add(*job));
    }
    PutWords(spec, &out);
    PutRules(spec.accepts, &out);
    out.set_max_hosts(spec.max_hosts);
    out.set_max_percent(spec.max_percent);
    for (const auto& stage : spec.stages) PutStageSpec(stage, out.add_stages());
    out.set_timeout_ms(spec.timeout.count());
    out.set_priority(static_cast<std::uint32_t>(spec.priority));
    PutLimits(spec.limits, out.mutable_limits());
    const auto place = static_cast<std::uint32_t>(plan_->specs_size());
    *plan_->add_specs() = std::move(out);
    places_.emplace(&spec, place);
    return place;
  }

 private:
  wire::Plan* plan_;
  std::unordered_map<const RunSpec*, std::uint32_t> places_;
};

using Specs = std::vector<std::shared_ptr<const RunSpec>>;

Result<RunSpec> TakeSpec(const wire::RunSpec& in, const Specs& before) {
  RunSpec spec;
  TakeWords(in, &spec);
  auto priority = TakeEnum(in.priority(), Priority::kLow);
  if (!priority) return Fail(priority.error());
  spec.priority = *priority;
  auto accepts = TakeRules(in);
  if (!accepts) return Fail(accepts.error());
  spec.accepts = std::move(*accepts);
  spec.max_hosts = in.max_hosts();
  spec.max_percent = in.max_percent();
  spec.timeout = Duration(in.timeout_ms());
  spec.limits = TakeLimits(in.limits());
  for (const auto& item : in.stages()) {
    auto stage = TakeStageSpec(item);
    if (!stage) return Fail(stage.error());
    spec.stages.push_back(std::move(*stage));
  }
  for (const auto& child : in.jobs()) {
    if (child.spec() >= before.size())
      return Fail(ErrorCode::kInternal, "record: a plan names job {} of {}", child.spec(),
                  before.size());
    spec.jobs.emplace(child.name(), before[child.spec()]);
  }
  return spec;
}

}  // namespace

Result<std::string> EncodePlan(const RunSpec& plan) {
  wire::Plan out;
  Gatherer(&out).Add(plan);
  return PackMessage(out);
}

Result<RunSpec> DecodePlan(std::string_view blob) {
  auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  wire::Plan in;
  if (auto parsed = Parse(*raw, &in); !parsed) return Fail(parsed.error());
  if (in.specs().empty()) return Fail(ErrorCode::kInternal, "record: an empty plan");
  Specs specs;
  for (int i = 0; i + 1 < in.specs_size(); ++i) {
    auto spec = TakeSpec(in.specs(i), specs);
    if (!spec) return Fail(spec.error());
    specs.push_back(std::make_shared<const RunSpec>(std::move(*spec)));
  }
  return TakeSpec(in.specs(in.specs_size() - 1), specs);
}

}  // namespace muster::records
