#include "imports/inventory.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "documents/budget.hpp"
#include "documents/problems.hpp"
#include "domain/host_ranges.hpp"
#include "imports/inventory_builder.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

// The first line that says something.
std::string_view FirstLine(std::string_view text) {
  std::string_view first;
  ForEachLine(text.substr(0, 64 << 10), [&](std::string_view line, std::uint32_t) {
    line = Trim(line);
    if (first.empty() && !line.empty() && !line.starts_with('#') && !line.starts_with(';'))
      first = line;
  });
  return first;
}

bool HasNameColumn(std::string_view header) {
  const char separator = header.contains(';') ? ';' : header.contains('\t') ? '\t' : ',';
  for (const auto untrimmed : Split(header, separator)) {
    std::string cell(Trim(untrimmed));
    std::erase(cell, '"');
    std::ranges::transform(cell, cell.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (cell == "name" || cell == "host" || cell == "hostname") return true;
  }
  return false;
}

// Reading goes by lines and characters; what is neither is told here, once for all formats.
bool IsReadable(std::string_view text, InventoryBuilder& out) {
  if (text.size() > kMostInventoryBytes) {
    out.findings.Wrong({}, "the file has {}; at most {} are read", FormatSize(text.size()),
                       FormatSize(kMostInventoryBytes));
    return false;
  }
  ForEachLine(text, [&](std::string_view line, std::uint32_t number) {
    const auto odd = std::ranges::find_if(line, [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    });
    if (odd != line.end())
      out.findings.Wrong({number, ColumnOf(line, static_cast<std::size_t>(odd - line.begin()))},
                         "this line has a control character");
    else if (!IsUtf8(line))
      out.findings.Wrong({number, 1}, "this line is not UTF-8 text");
  });
  return out.findings.Good();
}

}  // namespace

void InventoryBuilder::AddHosts(std::string_view names, Position at, const Labels& labels) {
  if (documents::MeasureHostNames(names).TooLong())
    return findings.Wrong(at, "'{}' is too long for a host name", documents::Shortened(names));
  const auto expanded = ExpandHostRanges(names, std::max<std::size_t>(Room(), 1));
  if (!expanded) return findings.Wrong(at, "{}", expanded.error().message);
  for (const auto& name : *expanded) {
    if (findings.Full()) return;
    AddHost(name, at, labels);
  }
}

void InventoryBuilder::AddHost(const std::string& name, Position at, const Labels& labels) {
  if (const auto good = CheckHostName(name); !good)
    return findings.Wrong(at, "{}", good.error().message);
  const auto [known, fresh] = known_.try_emplace(name, at);
  if (!fresh)
    return findings.Wrong(at, "host '{}' is there already, in line {}", name, known->second.line);
  if (Room() == 0) return findings.Wrong(at, "more than {} hosts", kMostInventoryHosts);
  if (labels.size() > kMostInventoryLabels - labels_)
    return findings.Wrong(at, "more than {} labels over all hosts", kMostInventoryLabels);
  labels_ += labels.size();
  hosts_.push_back({name, labels, at});
}

Inventory InventoryBuilder::Take() && {
  Inventory inventory{.hosts = std::move(hosts_),
                      .groups = std::move(groups_),
                      .problems = findings.Problems(),
                      .remarks = findings.Remarks()};
  if (inventory.problems.empty()) return inventory;
  inventory.hosts.clear();
  inventory.groups.clear();
  return inventory;
}

InventoryFormat GuessFormat(std::string_view file, std::string_view text) {
  if (file.ends_with(".csv") || file.ends_with(".tsv")) return InventoryFormat::kCsv;
  if (file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".ini"))
    return InventoryFormat::kAnsible;
  const auto first = FirstLine(text);
  const bool section = first.starts_with('[') && first.contains(']');
  if (section || first.starts_with("---") || first.ends_with(':') || first.contains('='))
    return InventoryFormat::kAnsible;
  return HasNameColumn(first) ? InventoryFormat::kCsv : InventoryFormat::kLines;
}

Inventory ReadInventory(const documents::Source& source, InventoryFormat format) {
  InventoryBuilder out(source.file);
  std::string_view text = source.text;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!IsReadable(text, out)) return std::move(out).Take();
  switch (format) {
    case InventoryFormat::kLines:
      ReadLines(text, out);
      break;
    case InventoryFormat::kCsv:
      ReadCsv(text, out);
      break;
    case InventoryFormat::kAnsible:
      ReadAnsible(text, out);
      break;
  }
  return std::move(out).Take();
}

std::string DocumentOf(const Inventory::Host& host) {
  std::string text =
      fmt::format("apiVersion: muster/v1\nkind: host\nname: {}\n", YamlQuoted(host.name));
  if (!host.labels.empty()) text += "labels:\n";
  for (const auto& [key, value] : host.labels)
    text += fmt::format("  {}: {}\n", YamlQuoted(key), YamlQuoted(value));
  return text;
}

std::string DocumentOf(const Inventory::Group& group) {
  std::string text =
      fmt::format("apiVersion: muster/v1\nkind: group\nname: {}\n", YamlQuoted(group.name));
  if (!group.groups.empty()) {
    std::string expression;
    for (const auto& part : group.groups) expression += (expression.empty() ? "@" : " or @") + part;
    return text + fmt::format("targets: {}\n", YamlQuoted(expression));
  }
  return text + fmt::format("hosts: [{}]\n", YamlQuoted(FoldHostNames(group.hosts)));
}

}  // namespace muster::imports
