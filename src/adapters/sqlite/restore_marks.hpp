#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "ports/store.hpp"

namespace muster::sqlite {

// Where a store of records stands.
struct Marks {
  std::uint64_t term = 0;
  std::uint64_t number = 0;
  std::uint64_t id_space = 0;
};
Result<Marks> ReadMarks(const std::filesystem::path& file);

// Turns the copy of a backup into a store to go on with: the term and the commit
// number leap, the next id space begins (domain/restore.hpp), and the store says that it was
// restored. Its join tokens are void. `above`: marks of the store that it replaces, which are left
// behind too. kInvalid: a newer musterd wrote it, or there is no id space left.
Result<Marks> MarkRestored(const std::filesystem::path& file, const Snapshot::Restored& restored,
                           const Marks& above);

}  // namespace muster::sqlite
