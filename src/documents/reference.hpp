#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::documents {

enum class Kind : std::uint8_t;

// A document that another one names.
struct Reference {
  Kind kind;
  std::string name;
  std::string_view key;  // behind which it stands in the document
  bool needed = true;    // false: the name may mean nothing
};

}  // namespace muster::documents
