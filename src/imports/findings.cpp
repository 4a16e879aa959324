#include "imports/findings.hpp"

#include <algorithm>

namespace muster::imports {
namespace {

void SortByPlace(std::vector<Problem>& list) {
  std::ranges::stable_sort(list, {}, &Problem::position);
}

}  // namespace

std::string_view Name(Carried carried) noexcept {
  switch (carried) {
    case Carried::kOver:
      return "over";
    case Carried::kChanged:
      return "changed";
    case Carried::kLost:
      return "lost";
  }
  return "";
}

void Findings::AddProblem(Position at, std::string sentence) {
  if (problems_.size() < kMostProblems)
    problems_.push_back({file_, at, std::move(sentence)});
  else
    ++more_problems_;
}

void Findings::AddRemark(Position at, std::string sentence) {
  const auto known = remarks_.find(sentence);
  if (known != remarks_.end()) {
    ++known->second.times;
    return;
  }
  if (remarks_.size() < kMostRemarks)
    remarks_.emplace(std::move(sentence), Repeated{at, 1});
  else
    ++more_remarks_;
}

std::vector<Problem> Findings::Problems() const {
  auto list = problems_;
  SortByPlace(list);
  if (more_problems_ > 0) list.push_back({file_, list.back().position, "more problems follow"});
  return list;
}

std::vector<Problem> Findings::Remarks() const {
  std::vector<Problem> list;
  for (const auto& [sentence, repeated] : remarks_)
    list.push_back(
        {file_, repeated.first,
         repeated.times > 1 ? fmt::format("{} ({} times)", sentence, repeated.times) : sentence});
  SortByPlace(list);
  if (more_remarks_ > 0)
    list.push_back(
        {file_, list.back().position, fmt::format("{} more remarks follow", more_remarks_)});
  return list;
}

std::uint32_t ColumnOf(std::string_view line, std::size_t byte) {
  return ColumnCounter(line).Of(byte);
}

std::uint32_t ColumnCounter::Of(std::size_t byte) {
  byte = std::min(byte, line_.size());
  if (byte < passed_) {
    passed_ = 0;
    column_ = 1;
  }
  const auto part = line_.substr(passed_, byte - passed_);
  column_ += static_cast<std::uint32_t>(std::ranges::count_if(
      part, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  passed_ = byte;
  return column_;
}

}  // namespace muster::imports
