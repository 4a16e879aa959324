#include "base/version.hpp"

namespace muster {

const char* const kVersion = "0.1.0";

}  // namespace muster
