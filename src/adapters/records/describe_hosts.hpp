#pragma once

#include "adapters/records/field.hpp"
#include "domain/freeze.hpp"
#include "domain/host.hpp"
#include "domain/notice.hpp"
#include "domain/secret.hpp"

// Hosts, how they join, and small records about the fleet.
namespace muster::records {

template <>
struct Description<Maintenance> {
  static constexpr std::tuple kFields{Field(1, &Maintenance::until), Field(2, &Maintenance::reason),
                                      Field(3, &Maintenance::by), Field(4, &Maintenance::at)};
};

template <>
struct Description<Host> {
  static constexpr std::tuple kFields{
      Field(1, &Host::id),           Field(2, &Host::name),
      Field(3, &Host::key),          Field(4, &Host::state, HostState::kRevoked),
      Field(5, &Host::note),         Field(6, &Host::labels),
      Field(7, &Host::facts),        Field(8, &Host::store),
      Field(9, &Host::boot),         Field(10, &Host::session),
      Field(11, &Host::joined),      Field(12, &Host::last_hello),
      Field(13, &Host::maintenance), Field(14, &Host::own_labels),
      Field(15, &Host::invite),      Field(16, &Host::certificates),
      Field(17, &Host::certified)};
};

template <>
struct Description<Invite> {
  static constexpr std::tuple kFields{
      Field(1, &Invite::id),           Field(2, &Invite::uses_left),
      Field(3, &Invite::expires),      Field(4, &Invite::replace),
      Field(5, &Invite::labels),       Field(6, &Invite::created_by),
      Field(7, &Invite::created),      Field(8, &Invite::names),
      Field(9, &Invite::server),       Field(10, &Invite::no_own_labels),
      Field(11, &Invite::server_name), Field(12, &Invite::server_key),
      Field(13, &Invite::answers),     Field(14, &Invite::answered),
      Field(15, &Invite::given)};
};

template <>
struct Description<PendingJoin> {
  static constexpr std::tuple kFields{
      Field(1, &PendingJoin::name),    Field(2, &PendingJoin::key),
      Field(3, &PendingJoin::invite),  Field(4, &PendingJoin::labels),
      Field(5, &PendingJoin::invited), Field(6, &PendingJoin::address),
      Field(7, &PendingJoin::since),   Field(8, &PendingJoin::rejected)};
};

template <>
struct Description<Freeze> {
  static constexpr std::tuple kFields{
      Field(1, &Freeze::id),      Field(2, &Freeze::scope, FreezeScope::kAll),
      Field(3, &Freeze::targets), Field(4, &Freeze::job),
      Field(5, &Freeze::reason),  Field(6, &Freeze::by),
      Field(7, &Freeze::at),      Field(8, &Freeze::until)};
};

template <>
struct Description<Secret> {
  static constexpr std::tuple kFields{Field(1, &Secret::name),    Field(2, &Secret::sealed),
                                      Field(3, &Secret::version), Field(4, &Secret::by),
                                      Field(5, &Secret::at),      Field(6, &Secret::labels)};
};

template <>
struct Description<OpenNotice> {
  static constexpr std::tuple kFields{
      Field(1, &OpenNotice::run),  Field(2, &OpenNotice::visit),    Field(3, &OpenNotice::channel),
      Field(4, &OpenNotice::job),  Field(5, &OpenNotice::state),    Field(6, &OpenNotice::message),
      Field(7, &OpenNotice::made), Field(8, &OpenNotice::attempts), Field(9, &OpenNotice::next)};
};

}  // namespace muster::records
