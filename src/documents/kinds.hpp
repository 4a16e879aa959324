#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "documents/kinds/channel.hpp"
#include "documents/kinds/group.hpp"
#include "documents/kinds/host.hpp"
#include "documents/kinds/job.hpp"
#include "documents/kinds/trigger.hpp"
#include "documents/reference.hpp"
#include "domain/token.hpp"

// The kinds of documents. Each has its own file in kinds/ and one row in the table of kinds.cpp;
// everything that lists kinds, or does something for each, goes by that table.
namespace muster::documents {

// In the order of the table, and of Body.
enum class Kind : std::uint8_t { kJob, kHost, kGroup, kChannel, kTrigger };
using Body =
    std::variant<JobDocument, HostDocument, GroupDocument, ChannelDocument, TriggerDocument>;

// How documents of a kind may name each other.
struct Nesting {
  std::size_t deepest = 0;       // levels below one; 0: they do not name each other
  std::string_view verb = {};    // "groups {are made of} each other"
  std::string_view before = {};  // each name: "@"
};

// Documents of this kind are not deleted while one names them that is kept.
struct Hold {
  Kind kind;
  std::string_view verb;  // job 'a' "starts" job 'b'
};

struct KindRow {
  Kind kind;
  std::string_view name;    // "job", as `kind:` says it
  std::string_view plural;  // "jobs"
  std::string_view about;   // a sentence
  // Callers with less than this may neither apply nor delete them, and why.
  Role role = Role::kOperator;
  std::string_view why_role = {};
  const Shape& (*shape)();
  Body (*build)(const Context& context, const Node& root, const std::vector<TemplateUse>& uses);
  // May be nullptr: it names no documents, or no time zones.
  std::vector<Reference> (*references)(const Body& body) = nullptr;
  std::vector<std::string> (*zones)(const Body& body) = nullptr;
  Nesting nesting = {};
  std::span<const Hold> holds = {};
};

std::span<const KindRow> Kinds();
const KindRow& RowOf(Kind kind);

std::string_view Name(Kind kind) noexcept;  // "job"
std::vector<std::string_view> KindNames();
std::optional<Kind> ParseKind(std::string_view name) noexcept;
// The row of "job" or "jobs"; nullptr: neither is a kind.
const KindRow* FindKind(std::string_view word) noexcept;

std::vector<Reference> ReferencesOf(const Body& body);
std::vector<std::string> ZonesOf(const Body& body);

}  // namespace muster::documents
