#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Takes out of a line of output what differs from host to host and from run to run, so that hosts
// that said the same can be found by a hash. What becomes what:
//
//   <host>  a name of the host or its short form (before the first '.'), as a whole word: beside it
//           stands no letter, digit, '_' or '-'; whatever the case
//   <run>   the run's id, likewise
//   <task>  the name of the task's folder, likewise
//   <ip>    an IPv4, IPv6 or MAC address; a port or prefix length stays
//   <time>  a date (2026-01-31, with or without a time of day and zone, also 20260131T101500Z), or
//   a
//           time of day with seconds
//   <pid>   a number behind a word "pid", "ppid", "main_pid", "MainPID", or alone in brackets
//   <0x>    a number in hex that begins with 0x
//
// A mark that stands where it should not does no harm as long as it stands on every host: so the
// rules are simple, and only names, which are each host's own, are matched strictly.
class LineMask {
 public:
  struct Words {
    std::vector<std::string> hosts;  // names of this host; those of one letter are left alone
    std::string run;
    std::string task = {};  // as its folder is named
  };

  // Where something ends that is to be replaced, and by what.
  struct Found {
    std::size_t end = std::string_view::npos;
    std::string_view mark;
  };

  explicit LineMask(const Words& words);

  // Appends `line`, masked, to `out`. A line end may be part of it. Safe from any thread.
  void Mask(std::string_view line, std::string& out) const;

 private:
  struct Name {
    std::string lower;
    std::string_view mark;
  };
  void AddName(std::string_view name, std::string_view mark);
  const Name* NameAt(std::string_view line, std::size_t at) const noexcept;
  Found WordAt(std::string_view line, std::size_t at) const noexcept;

  std::vector<Name> names_;         // longest first
  std::array<bool, 256> begins_{};  // bytes that begin a name
  std::array<bool, 256> stops_{};   // bytes at which something may have to be replaced
};

}  // namespace muster::agent
