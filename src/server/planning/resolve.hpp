#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "domain/run.hpp"
#include "domain/targets.hpp"
#include "server/planning/inventory.hpp"

namespace muster::server {

struct Resolved {
  std::shared_ptr<const Targets> targets;  // in natural order of names
  std::vector<std::string> offline;
  std::vector<std::string> copies;  // among the targets; they take no work, and are refused
  // Hosts that it means as well and that are left out; only when options.declared.
  std::vector<std::string> never_joined;  // declared
  std::vector<std::string> left_out_copies;
  std::vector<std::string> revoked;
  std::string maintained;  // in words; only of a dry run, whose targets they are not among
  bool says_all = false;
  std::set<std::string> group_authors;  // see GroupAuthors
};

// The hosts that are left out, for people: "1 in maintenance: db3 (ann: disks); 2 declared and
// never joined: db[1-2]; 1 revoked: db9";
// "" when there are none.
std::string LeftOutText(const Resolved& resolved);
// "d1 is declared and never joined; to join a host, …"
std::string NeverJoinedText(const std::vector<std::string>& names);
// Hosts of which a start must tell beforehand that they will be refused.
void WarnOfCopies(const Resolved& resolved, std::vector<std::string>& warnings);

// Which hosts an expression means now, less those of `exclude`. kInvalid: one does not parse.
// kNotFound: an unknown name in one of them, or nothing is left. `go_on` is asked between two reads
// of a long look-up, which fails with its error; may be empty.
Result<Resolved> ResolveTargets(const Inventory& inventory, const std::string& expression,
                                const std::string& exclude, ResolveOptions options = {},
                                const std::function<Result<>()>& go_on = {});

// Who applied the groups that an expression names, and those they are made of, as they are now.
std::set<std::string> GroupAuthors(const Inventory& inventory, const std::string& expression);

}  // namespace muster::server
