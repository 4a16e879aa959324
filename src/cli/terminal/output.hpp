#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "cli/terminal/shown_text.hpp"
#include "domain/task.hpp"

namespace muster::cli {

enum class Format { kTable, kJson, kJsonl, kYaml };

// Where a program's two streams lead.
struct Terminal {
  bool stdout_tty = false;
  bool stderr_tty = false;
  bool stdin_tty = false;
  bool one_output = false;  // stdout and stderr lead to the same place, as with 2>&1
  bool colour_out = false;
  bool colour_err = false;
  std::size_t columns = 0;  // of stdout; 0 is no limit
  std::size_t rows = 0;     // of stdout; 0 is unknown

  // `colour` is "always", "never" or "auto": on a terminal, unless NO_COLOR is set.
  static Terminal Detect(std::string_view colour);
};

// The exit code of a program whose result could not be written, as on a full disk.
inline constexpr int kExitUnwritten = 8;

// Keeps stdin, stdout and stderr that were closed (`2>&-`) from being the next file or connection
// that is opened. To be called first.
void HoldStandardStreams();

// What was done on the server, and stays done, when stdout cannot be written: Write tells it on
// stderr then. `goes_on`: also when the reader of a pipe went away.
void StaysDone(std::string what, bool goes_on = false);

// Writes all of `text`. When that fails on stdout the program says so on stderr and ends with
// kExitUnwritten; a reader that went away ends it as SIGPIPE would; messages that stderr does not
// take are dropped. There is no other way from this program to stdout, stderr and the terminal;
// scripts/check sees to it.
void Write(std::FILE* file, const ShownText& text);
// The same of Muster's own words: see OwnText.
void Write(std::FILE* file, std::string_view text);
// The same of bytes that are handed on: see CopiedText.
void WriteCopy(std::FILE* file, std::string_view bytes);
// The same of hosts' output, which is a result on stderr too, unless stderr was closed on purpose.
void WriteOutput(std::FILE* file, const ShownText& text);
// Writes a message to stderr. At a terminal of known width long lines are broken between words.
void WriteMessage(const ShownText& text);
void WriteMessage(std::string_view text);
// The same to a reader who may leave before the end; false when it did.
bool WriteToReader(std::FILE* file, const ShownText& text);

Colour ColourOf(std::string_view state);

// "9,871"
std::string Count(std::uint64_t number);
// "1 host", "9,871 hosts"
std::string Hosts(std::uint64_t number);
// "0.35 s", "1.2 s", "4m10s", "2h05m"
std::string Lasted(Duration duration);
// The same for measurements: below a second in milliseconds, "350 ms".
std::string LastedExactly(Duration duration);
// "12s ago", "3h ago", "5d ago"; "never" for zero.
std::string Ago(WallTime then, WallTime now);
WallTime WallNow();

// Columns padded to their widest cell, two spaces apart, nothing behind the last. The first row is
// the head. Each cell is made visible as one line, so a row stays a row.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Keeps lines within `width` (0: no limit) by leaving out columns that are empty and shortening
  // cells of the columns `flexible`, those named last first, to no less than a few letters. Other
  // columns stay whole, even if the line then is longer: names are there to be copied.
  void Fit(std::size_t width, std::vector<std::size_t> flexible);
  // `state_column`: painted by its state when `colour`; -1 is none.
  std::string Text(bool colour = false, int state_column = -1) const;

 private:
  using Rows = std::vector<std::vector<std::string>>;
  void Shorten(Rows& cells, std::vector<std::size_t>& widths) const;

  Rows rows_;
  std::size_t width_ = 0;
  std::vector<std::size_t> flexible_;
};

// `value` as one document: JSON indented by two, or YAML. JSON lines are a line for each item of an
// answer that is one list with at most numbers beside it, else the document as one line. Characters
// that base/visible.hpp would replace are written as \u escapes: the value stays the same.
std::string Document(const boost::json::value& value, Format format);
// `value` as a line of JSON, likewise.
std::string JsonLine(const boost::json::value& value);

// Fields of an API answer, forgiving: "" or 0 when absent or of another kind.
std::string TextOf(const boost::json::value& value, std::string_view field);
// TextOf made visible as one line: for what stands among other lines.
std::string LineOf(const boost::json::value& value, std::string_view field);
std::int64_t NumberOf(const boost::json::value& value, std::string_view field);
bool FlagOf(const boost::json::value& value, std::string_view field);
const boost::json::value& FieldOf(const boost::json::value& value, std::string_view field);
const boost::json::array& ListOf(const boost::json::value& value, std::string_view field);
TaskCounts CountsOf(const boost::json::value& counts);

}  // namespace muster::cli
