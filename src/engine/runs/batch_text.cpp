#include "engine/runs/batch_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::engine {

std::string InBatch(std::string why, std::uint32_t number, std::string_view stage) {
  if (why.empty()) return why;
  std::string where = fmt::format(" in batch {}", number);
  if (!stage.empty()) where += fmt::format(" of stage {}", stage);
  why.insert(std::min(why.find(';'), why.size()), where);
  return why;
}

}  // namespace muster::engine
