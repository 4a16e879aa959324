#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

// Folds names into ranges for people: {"web01","web02","web03","db1"} -> "db1,web[01-03]".
// The order is natural (web2 before web10), zero-padding is kept, names are folded over their last
// number that varies. Whatever it prints, ExpandHostRanges and the target language read back as
// exactly the same set. `limit` > 0 ends the text after about that many characters with
// ", … (+N more)".
std::string FoldHostNames(std::span<const std::string> names, std::size_t limit = 0);

// "web[01-03,07]" -> web01 web02 web03 web07; several comma-separated parts and several brackets in
// one name are allowed. kInvalid when a range is malformed or would give more than `most` names.
Result<std::vector<std::string>> ExpandHostRanges(std::string_view text,
                                                  std::size_t most = 100'000);

// "1 host", "3 hosts".
std::string HostsText(std::uint64_t count);

// Natural order: digit runs compare as numbers.
bool NaturalLess(std::string_view a, std::string_view b) noexcept;

}  // namespace muster
