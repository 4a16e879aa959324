#pragma once

#include <vector>

#include "documents/budget.hpp"
#include "documents/node.hpp"
#include "documents/problems.hpp"
#include "documents/shape.hpp"
#include "domain/template.hpp"

namespace muster::documents {

// A template of a document, for the names in it to be looked at when all stages are known.
struct TemplateUse {
  const Node* node = nullptr;
  const Node* stage = nullptr;  // whose map it stands in; nullptr: of the job
  Place place = Place::kNowhere;
  std::vector<TemplateName> names;
};

// Holds a value against the table: unknown and missing keys, keys given twice, wrong types, values
// that are none. Gathers the templates, which outlive neither `root` nor this call's problems.
// Names in target expressions and patterns are counted.
std::vector<TemplateUse> CheckShape(const Node& root, const Shape& shape, Problems& problems,
                                    ReadBudget& budget);

}  // namespace muster::documents
