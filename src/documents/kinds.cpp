#include "documents/kinds.hpp"

#include <algorithm>

#include "documents/check.hpp"
#include "documents/fields.hpp"
#include "domain/nesting.hpp"

namespace muster::documents {
namespace {

template <auto kBuild>
Body Built(const Context& context, const Node& root, const std::vector<TemplateUse>& /*uses*/) {
  return kBuild(context, root);
}

Body BuiltJob(const Context& context, const Node& root, const std::vector<TemplateUse>& uses) {
  return BuildJob(context, root, uses);
}

template <typename Of>
std::vector<Reference> References(const Body& body) {
  return ReferencesOf(std::get<Of>(body));
}

template <typename Of>
std::vector<std::string> Zones(const Body& body) {
  return ZonesOf(std::get<Of>(body));
}

constexpr Hold kJobHolds[] = {{Kind::kJob, "starts"}, {Kind::kChannel, "tells"}};

constexpr KindRow kRows[] = {
    {.kind = Kind::kJob,
     .name = "job",
     .plural = "jobs",
     .about = "What is done, on which hosts, and in which order.",
     .shape = JobShape,
     .build = BuiltJob,
     .references = References<JobDocument>,
     .nesting = {.deepest = kDeepestJobs, .verb = "start"},
     .holds = kJobHolds},
    {.kind = Kind::kHost,
     .name = "host",
     .plural = "hosts",
     .about = "A host that is expected, and the labels that the server gives it.",
     .role = Role::kAdmin,
     .why_role = "labels of hosts are an admin's to set",
     .shape = HostShape,
     .build = Built<BuildHost>},
    {.kind = Kind::kGroup,
     .name = "group",
     .plural = "groups",
     .about = "A name for hosts, `@NAME` in targets.",
     .shape = GroupShape,
     .build = Built<BuildGroup>,
     .references = References<GroupDocument>,
     .nesting = {.deepest = kDeepestGroups, .verb = "are made of", .before = "@"}},
    {.kind = Kind::kChannel,
     .name = "channel",
     .plural = "channels",
     .about = "Where notices are sent: a webhook, a chat or a mail server.",
     .shape = ChannelShape,
     .build = Built<BuildChannel>},
    {.kind = Kind::kTrigger,
     .name = "trigger",
     .plural = "triggers",
     .about = "When runs of a job are started.",
     .shape = TriggerShape,
     .build = Built<BuildTrigger>,
     .references = References<TriggerDocument>,
     .zones = Zones<TriggerDocument>},
};
static_assert(std::size(kRows) == std::variant_size_v<Body>, "one row for each kind");

}  // namespace

std::span<const KindRow> Kinds() { return kRows; }

const KindRow& RowOf(Kind kind) { return kRows[static_cast<std::size_t>(kind)]; }

std::string_view Name(Kind kind) noexcept { return RowOf(kind).name; }

std::vector<std::string_view> KindNames() {
  std::vector<std::string_view> names;
  for (const auto& row : kRows) names.push_back(row.name);
  return names;
}

std::optional<Kind> ParseKind(std::string_view name) noexcept {
  const auto found = std::ranges::find(kRows, name, &KindRow::name);
  if (found == std::end(kRows)) return std::nullopt;
  return found->kind;
}

const KindRow* FindKind(std::string_view word) noexcept {
  const auto found = std::ranges::find_if(
      kRows, [word](const KindRow& row) { return word == row.name || word == row.plural; });
  return found == std::end(kRows) ? nullptr : found;
}

std::vector<Reference> ReferencesOf(const Body& body) {
  const auto& row = kRows[body.index()];
  return row.references == nullptr ? std::vector<Reference>() : row.references(body);
}

std::vector<std::string> ZonesOf(const Body& body) {
  const auto& row = kRows[body.index()];
  return row.zones == nullptr ? std::vector<std::string>() : row.zones(body);
}

}  // namespace muster::documents
