#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.hpp"
#include "imports/inventory_builder.hpp"

namespace muster::imports {
namespace {

struct Cell {
  std::string text;
  Position at;
};
using Row = std::vector<Cell>;

constexpr std::size_t kMostColumns = 200;

// RFC 4180, with any of , ; and tab between cells. A quoted cell may hold line ends.
class CsvReader {
 public:
  CsvReader(std::string_view text, Findings& findings) : text_(text), findings_(findings) {
    const auto header = text_.substr(0, text_.find('\n'));
    separator_ = header.contains(';') ? ';' : header.contains('\t') ? '\t' : ',';
  }

  // The next row that is not blank; nothing at the end, or after a problem.
  std::optional<Row> Next() {
    while (at_ < text_.size()) {
      Row row;
      while (true) {
        auto cell = ReadCell();
        if (!cell) return std::nullopt;
        row.push_back(std::move(*cell));
        if (row.size() > kMostColumns) {
          findings_.Wrong(row.back().at, "more than {} columns", kMostColumns);
          return std::nullopt;
        }
        if (at_ >= text_.size() || text_[at_] != separator_) break;
        Step();
      }
      EndLine();
      if (row.size() > 1 || !Trim(row.front().text).empty()) return row;
    }
    return std::nullopt;
  }

 private:
  Position Here() { return {line_, columns_.Of(at_ - line_start_)}; }

  void Step() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
      columns_ = ColumnCounter(text_.substr(line_start_));
    }
    ++at_;
  }

  void EndLine() {
    if (at_ < text_.size() && text_[at_] == '\r') Step();
    if (at_ < text_.size() && text_[at_] == '\n') Step();
  }

  bool AtCellEnd() const {
    if (at_ >= text_.size()) return true;
    const char c = text_[at_];
    return c == separator_ || c == '\n' || (c == '\r' && text_.substr(at_).starts_with("\r\n"));
  }

  std::optional<Cell> ReadCell() {
    Cell cell{"", Here()};
    if (at_ < text_.size() && text_[at_] == '"') return ReadQuoted(std::move(cell));
    while (!AtCellEnd()) {
      cell.text += text_[at_];
      Step();
    }
    cell.text = Trim(cell.text);
    return cell;
  }

  std::optional<Cell> ReadQuoted(Cell cell) {
    Step();
    while (at_ < text_.size()) {
      if (text_[at_] != '"') {
        cell.text += text_[at_];
        Step();
      } else if (text_.substr(at_).starts_with("\"\"")) {
        cell.text += '"';
        Step(), Step();
      } else {
        Step();
        if (AtCellEnd()) return cell;
        findings_.Wrong(Here(), "expected '{}' or the end of the line behind a quoted cell",
                        separator_ == '\t' ? "a tab" : std::string(1, separator_));
        return std::nullopt;
      }
    }
    findings_.Wrong(cell.at, "the quote that is opened here is never closed");
    return std::nullopt;
  }

  std::string_view text_;
  Findings& findings_;
  char separator_ = ',';
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  ColumnCounter columns_{text_};
};

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

struct Columns {
  std::size_t name = 0;
  std::vector<std::string> labels;  // by column; "" is the name's
};

std::optional<std::size_t> NameColumn(const Row& header, Findings& findings) {
  for (const std::string_view wanted : {"name", "host", "hostname"})
    for (std::size_t i = 0; i < header.size(); ++i)
      if (Lower(header[i].text) == wanted) return i;
  findings.Wrong({}, "the first line must name the columns, one of them name, host or hostname");
  return std::nullopt;
}

// A label's key for a column: "Rack Row" becomes rack_row, which is remarked.
std::string KeyOf(const Cell& cell, Findings& findings) {
  std::string key = cell.text;
  std::ranges::replace(key, ' ', '_');
  if (const auto good = CheckLabel(key, ""); !good) {
    findings.Wrong(cell.at, "column '{}': {}", cell.text, good.error().message);
  } else if (key != cell.text) {
    findings.Remark(cell.at, "column '{}' becomes label '{}'", cell.text, key);
  }
  return key;
}

std::optional<Columns> ReadHeader(const Row& header, Findings& findings) {
  const auto name = NameColumn(header, findings);
  if (!name) return std::nullopt;
  Columns columns{*name, {}};
  for (std::size_t i = 0; i < header.size(); ++i) {
    auto key = i == *name ? "" : KeyOf(header[i], findings);
    if (!key.empty() && std::ranges::find(columns.labels, key) != columns.labels.end())
      findings.Wrong(header[i].at, "column '{}' is there twice", header[i].text);
    columns.labels.push_back(std::move(key));
  }
  return columns;
}

void ReadRow(const Row& row, const Columns& columns, InventoryBuilder& out) {
  if (row.size() > columns.labels.size())
    return out.findings.Wrong(row[columns.labels.size()].at,
                              "this line has {} cells, but there are {} columns", row.size(),
                              columns.labels.size());
  if (row.size() <= columns.name || Trim(row[columns.name].text).empty())
    return out.findings.Wrong(row.front().at, "this line has no host name");
  Labels labels;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto& key = columns.labels[i];
    if (key.empty() || row[i].text.empty()) continue;
    if (const auto good = CheckLabel(key, row[i].text); !good)
      return out.findings.Wrong(row[i].at, "{}", good.error().message);
    labels[key] = row[i].text;
  }
  out.AddHosts(row[columns.name].text, row[columns.name].at, labels);
}

}  // namespace

void ReadCsv(std::string_view text, InventoryBuilder& out) {
  CsvReader reader(text, out.findings);
  const auto header = reader.Next();
  if (!header) {
    if (out.findings.Good()) out.findings.Wrong({}, "the file is empty");
    return;
  }
  const auto columns = ReadHeader(*header, out.findings);
  if (!columns) return;
  for (auto row = reader.Next(); row && !out.findings.Full(); row = reader.Next())
    ReadRow(*row, *columns, out);
}

}  // namespace muster::imports
