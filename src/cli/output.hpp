#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "domain/task.hpp"

namespace muster::cli {

enum class Format { kTable, kJson, kJsonl, kYaml };

enum class Colour { kNone, kRed, kGreen, kYellow, kDim, kBold };

// Where a program's two streams lead.
struct Terminal {
  bool stdout_tty = false;
  bool stderr_tty = false;
  bool stdin_tty = false;
  bool colour_out = false;
  bool colour_err = false;
  std::size_t columns = 0;  // of stdout; 0 is no limit

  // `colour` is "always", "never" or "auto": on a terminal, unless NO_COLOR is set.
  static Terminal Detect(std::string_view colour);
};

// Writes all of `bytes`. A reader that went away ends the program quietly, as SIGPIPE would.
void Write(std::FILE* file, std::string_view bytes);

// Back to the beginning of the line, which is empty then.
inline constexpr std::string_view kClearLine = "\r\x1b[K";

std::string Paint(std::string_view text, Colour colour, bool enabled);
Colour ColourOf(std::string_view state);

// "9,871"
std::string Count(std::uint64_t number);
// "1 host", "9,871 hosts"
std::string Hosts(std::uint64_t number);
// "350 ms", "1.2 s", "4m10s", "2h05m"
std::string Lasted(Duration duration);
// "12s ago", "3h ago", "5d ago"; "never" for zero.
std::string Ago(WallTime then, WallTime now);
WallTime WallNow();

// Columns padded to their widest cell, two spaces apart, nothing behind the last. The first row is
// the head. Cells are made harmless for a terminal when `terminal`.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Keeps lines within `width` (0: no limit) by leaving out columns that are empty and shortening
  // cells of the columns `flexible`, those named last first, to no less than a few letters. Other
  // columns stay whole, even if the line then is longer: names are there to be copied.
  void Fit(std::size_t width, std::vector<std::size_t> flexible);
  // `state_column`: painted by its state when `colour`; -1 is none.
  std::string Text(bool terminal, bool colour = false, int state_column = -1) const;

 private:
  using Rows = std::vector<std::vector<std::string>>;
  void Shorten(Rows& cells, std::vector<std::size_t>& widths) const;

  Rows rows_;
  std::size_t width_ = 0;
  std::vector<std::size_t> flexible_;
};

// `value` as one document: JSON indented by two, or YAML. JSON lines are a line for each item of an
// answer that is one list with at most numbers beside it, else the document as one line.
std::string Document(const boost::json::value& value, Format format);

// Fields of an API answer, forgiving: "" or 0 when absent or of another kind.
std::string TextOf(const boost::json::value& value, std::string_view field);
std::int64_t NumberOf(const boost::json::value& value, std::string_view field);
bool FlagOf(const boost::json::value& value, std::string_view field);
const boost::json::value& FieldOf(const boost::json::value& value, std::string_view field);
const boost::json::array& ListOf(const boost::json::value& value, std::string_view field);
TaskCounts CountsOf(const boost::json::value& counts);

}  // namespace muster::cli
