#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "domain/token.hpp"

// When a person is asked, by one rule for every command; docs/cli.md has it as a table. A question
// needs a terminal as stdin: in a pipe, and with --yes, the answer is yes. It says where it would
// happen. For `all` or --all, and for more than 50 things, the number is typed, else y.
namespace muster::cli {

// What would be destroyed or cut off, or is asked for another reason.
struct Question {
  std::string act;          // "Revoke token alice": a question mark and the place are added
  std::uint64_t count = 1;  // of the things it is about
  bool all = false;         // it says `all` or --all
  std::string names = {};   // of the things, on a line above the question
  std::vector<std::string> notes = {};  // what the person should know first, on lines below that
};

// True when the person means it, or there is nobody to ask. False: it says that nothing was done,
// and the command ends with kExitInterrupted. `least` is the least role that may do it: a caller of
// a lower one gets kDenied instead of the question. Asks the server nothing when no question comes.
Result<bool> Agreed(const Context& context, ApiClient& api, bool yes, Role least,
                    const Question& question);

// The same for hosts that an expression means, as the server resolves it. `act` is made of their
// number: "Put 3 hosts into maintenance".
Result<bool> AgreedOnHosts(const Context& context, ApiClient& api, bool yes, Role least,
                           const std::string& targets, std::string_view before,
                           std::string_view after, std::vector<std::string> notes = {});

// For what starts work and can be repeated: a question comes only for `all` or more than 50 hosts:
// "Start nightly on 300 hosts in …?", where `act` is "Start nightly". `plan` is what a dry run
// answered.
bool Confirmed(const Context& context, std::string_view act, const boost::json::value& plan);

// The same for a call that starts work: asks the server what it would mean, with `dry_run` in its
// body, when a question may come. `act` makes "Fire nightly" of that answer.
Result<bool> AgreedToStart(const Context& context, ApiClient& api, bool yes,
                           const std::string& path, boost::json::object body,
                           const std::function<std::string(const boost::json::value& plan)>& act);

// The part of Agreed about the role, for other questions.
Result<> CheckRole(const Context& context, ApiClient& api, bool yes, Role least);

}  // namespace muster::cli
