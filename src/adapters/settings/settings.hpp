#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

// A program's settings as one table: each entry has a name, a sentence for people, and the field of
// a plain struct that it fills. Reading a file, reading variables, printing what is in force and
// telling what a reload may take over are all walks over this table, so a new setting is one line
// in it, and a new section one block:
//
//   Section("limits", "What one caller may ask of this server.",
//           {Size("body", config.limits.body, "Largest request body.").Live(),
//            Number("connections", config.limits.connections, "Open at once.", 1, 1'000'000)}),
namespace muster::settings {

enum class Shape {
  kValue,    // `name: value`
  kList,     // `name: [a, b]`
  kPairs,    // `name: {key: value}`; handed over as "key=value"
  kSection,  // `name:` and its own settings below
};

struct Setting {
  std::string name;  // within its section
  std::string help;  // one sentence
  Shape shape = Shape::kValue;
  bool live = false;  // a reload takes it over; the others need a restart
  // In the form of the file. `set` leaves the field as it was when it fails (kInvalid in words).
  std::function<Result<>(const std::vector<std::string>& words)> set;
  std::function<std::vector<std::string>()> get;
  std::function<std::string(const std::string& word)> shown;  // in messages; none: as it is
  std::vector<Setting> inner;                                 // of a section

  // For the end of a line in the table.
  Setting Live() &&;
  // Asks `check` too before a value is taken.
  Setting Checked(std::function<Result<>(const std::string& value)> check) &&;
  // What people see of it, where they may not see all.
  Setting Shown(std::function<std::string(const std::string& word)> as) &&;

  std::vector<std::string> ToShow() const;
};

// The address of a database (postgresql://user:password@host/name, or key=value words) with "***"
// for a password in it.
std::string WithoutPassword(const std::string& address);

// Refers to the fields of the struct it was made for, which must outlive it.
using Table = std::vector<Setting>;

Setting Text(std::string name, std::string& field, std::string help);
Setting Path(std::string name, std::filesystem::path& field, std::string help);
Setting Choice(std::string name, std::string& field, std::string help,
               std::vector<std::string> choices);
Setting Time(std::string name, Duration& field, std::string help, Duration least = {});
Setting Size(std::string name, std::uint64_t& field, std::string help);
Setting Number(std::string name, std::uint64_t& field, std::string help, std::uint64_t least,
               std::uint64_t most);
Setting Flag(std::string name, bool& field, std::string help);
Setting List(std::string name, std::vector<std::string>& field, std::string help);
Setting Pairs(std::string name, std::map<std::string, std::string, std::less<>>& field,
              std::string help);
Setting Section(std::string name, std::string help, Table inner);

// Reads a YAML file into the fields. kNotFound: there is none. kInvalid: one line for each mistake
// (unknown key, key given twice, wrong value), with file, line and column; then the fields of what
// was right are set.
Result<> ReadFile(const std::filesystem::path& file, const Table& table);
// The same from its text; `name` is for messages.
Result<> ReadText(const std::string& text, const std::string& name, const Table& table);

// Takes variables that are set and not empty; `names` maps each to a setting ("limits.body").
Result<> ReadEnvironment(const Table& table,
                         const std::vector<std::pair<std::string, std::string>>& names);

// Sets one by its full name, as a flag does. kInvalid names it.
Result<> Set(const Table& table, std::string_view name, const std::vector<std::string>& words);

// What is in force, as a file that ReadFile would take (if nothing in it has to be hidden), with
// the sentences as comments.
std::string Print(const Table& table);

struct Difference {
  std::string name;    // full
  std::string before;  // as shown
  std::string after;
  bool live = false;

  friend bool operator==(const Difference&, const Difference&) = default;
};

// Where two tables of the same program differ.
std::vector<Difference> Differences(const Table& before, const Table& after);

// "log_level: info -> debug", or "listen: … needs a restart"
std::string Sentence(const Difference& difference);

// How many of them a reload takes over, and how many wait: "1 needs_restart=2".
std::string Tally(const std::vector<Difference>& found);

// A reload: copies the live settings of `after` into the fields of `before`, and tells where the
// two differed.
std::vector<Difference> TakeLive(const Table& before, const Table& after);

}  // namespace muster::settings
