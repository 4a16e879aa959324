#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/documents.hpp"

namespace muster::imports {

using documents::Position;
using documents::Problem;

// What became of a part of what is imported.
enum class Carried : std::uint8_t {
  kOver,     // means the same
  kChanged,  // is there, with another meaning that whoever imports should know
  kLost,     // is not there; the sentence says what to do
};
std::string_view Name(Carried carried) noexcept;  // "over", "changed", "lost"

// What an import has to say about a file: problems, with which nothing of it is to be used, and
// remarks about what was left out or changed. Both are bounded, however bad the file is.
class Findings {
 public:
  static constexpr std::size_t kMostProblems = 20;
  static constexpr std::size_t kMostRemarks = 200;

  explicit Findings(std::string file) : file_(std::move(file)) {}

  template <typename... Args>
  void Wrong(Position at, fmt::format_string<Args...> format, Args&&... args) {
    AddProblem(at, fmt::format(format, std::forward<Args>(args)...));
  }
  // Said once, with its first place and how often it holds.
  template <typename... Args>
  void Remark(Position at, fmt::format_string<Args...> format, Args&&... args) {
    AddRemark(at, fmt::format(format, std::forward<Args>(args)...));
  }

  bool Good() const { return problems_.empty(); }
  // There are more problems than are kept: reading on finds nothing that would be told.
  bool Full() const { return more_problems_ > 0; }
  // In order of their places; when some were not kept, the last one says how many.
  std::vector<Problem> Problems() const;
  std::vector<Problem> Remarks() const;

 private:
  struct Repeated {
    Position first;
    std::size_t times = 0;
  };

  void AddProblem(Position at, std::string sentence);
  void AddRemark(Position at, std::string sentence);

  std::string file_;
  std::vector<Problem> problems_;
  std::size_t more_problems_ = 0;
  std::map<std::string, Repeated> remarks_;
  std::size_t more_remarks_ = 0;
};

// The column of a byte in its line: from 1, in characters.
std::uint32_t ColumnOf(std::string_view line, std::size_t byte);

// Columns of many bytes of one line. Each goes on from the one before, so that all of them in
// ascending order cost the length of the line. The line outlives it.
class ColumnCounter {
 public:
  ColumnCounter() = default;
  explicit ColumnCounter(std::string_view line) : line_(line) {}

  std::uint32_t Of(std::size_t byte);

 private:
  std::string_view line_;
  std::size_t passed_ = 0;
  std::uint32_t column_ = 1;
};

}  // namespace muster::imports
