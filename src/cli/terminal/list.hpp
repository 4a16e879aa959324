#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/context.hpp"
#include "cli/terminal/shown_text.hpp"

namespace muster::cli {

// Prints a list on stdout, and a line of summary under it on stderr if a terminal shows one of them
// ("" is no summary). At a terminal that the list does not fit on, both are shown in the pager.
// Returns the exit code: 0, or kExitInterrupted when the pager ended by Ctrl-C.
int ShowList(const Context& context, const ShownText& list, std::string_view summary = {});
int ShowList(const Context& context, std::string_view list, std::string_view summary = {});

// "1 token", "1,234 tokens".
std::string CountOf(std::uint64_t number, std::string_view noun);

// Counts the states of a list: "1,234 hosts: 1,200 online, 34 offline".
class Tally {
 public:
  void Add(const std::string& state, std::uint64_t number = 1);
  std::uint64_t All() const { return all_; }
  // The most frequent state first. `noun` is singular.
  std::string Text(std::string_view noun) const;

 private:
  std::map<std::string, std::uint64_t> states_;
  std::uint64_t all_ = 0;
};

}  // namespace muster::cli
