#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/copy/tables.hpp"
#include "base/result.hpp"

// Rows as COPY … (FORMAT binary) carries them: a head, for each row the number of its columns and
// each with its length, and a tail.
namespace muster::copy {

// Gathers rows as bytes to send.
class TupleWriter {
 public:
  TupleWriter();

  void Row(std::size_t columns);  // then as many of these
  void Int(std::int64_t value);
  void Bytes(std::string_view value);
  void Null();
  void End();  // after the last row

  // What was gathered since it was cleared.
  std::string& Gathered() { return bytes_; }

 private:
  std::string bytes_;
};

// Takes bytes in pieces of any size and gives the rows in them.
class TupleReader {
 public:
  void Add(std::string_view bytes);
  // The next row, if all of it is there; its cells are valid until the next call. kInternal: these
  // are no rows of so many columns.
  Result<bool> Next(std::size_t columns, std::vector<Cell>& row);
  bool Ended() const { return ended_; }  // the tail was there

 private:
  bool ReadHead();

  std::string bytes_;
  std::size_t at_ = 0;
  bool began_ = false;
  bool ended_ = false;
};

// The number that a cell of eight bytes is.
std::int64_t NumberOf(const Cell& cell);

}  // namespace muster::copy
