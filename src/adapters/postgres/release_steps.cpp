#include "adapters/postgres/schema.hpp"

namespace muster::postgres {

std::span<const SchemaStep> ReleaseSteps() { return RecordSteps(); }

}  // namespace muster::postgres
