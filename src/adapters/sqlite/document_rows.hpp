#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

// Reads of documents, as Store says; inside a transaction their caller opened.
namespace muster::sqlite {

// By kind and name, without those of triggers.
Result<std::vector<DocumentHead>> ReadDocumentHeads(Database& database);
Result<std::optional<Document>> ReadDocument(Database& database, std::string_view kind,
                                             std::string_view name, std::uint32_t version);
Result<std::vector<DocumentHead>> ListDocumentHeads(Database& database, std::string_view kind,
                                                    std::string_view after, std::size_t limit);

}  // namespace muster::sqlite
