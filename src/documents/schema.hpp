#pragma once

#include <string>

#include "documents/shape.hpp"

// The table of keys, for others to read.
namespace muster::documents {

// api/job.schema.json: JSON Schema (draft 2020-12) of every kind, for editors. It knows the same
// keys as the parser; of values it knows less.
std::string JsonSchema();

// The Markdown table of all kinds, as in docs/jobs/reference.md.
std::string KindTable();

// The line of api/openapi.yaml that lists them.
std::string KindEnum();

// The Markdown table of a shape's keys, as in docs/jobs/reference.md.
std::string KeyTable(const Shape& shape);

}  // namespace muster::documents
