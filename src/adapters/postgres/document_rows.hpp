#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "domain/records.hpp"
#include "ports/store.hpp"

// Reads of documents, secrets and notices, as Store says.
namespace muster::postgres {

// By kind and name, without those of triggers.
Result<std::vector<DocumentHead>> ReadDocumentHeads(Connection& connection);
Result<std::optional<Document>> ReadDocument(Connection& connection, std::string_view kind,
                                             std::string_view name, std::uint32_t version);
Result<std::vector<DocumentHead>> ListDocumentHeads(Connection& connection, std::string_view kind,
                                                    std::string_view after, std::size_t limit);
Result<ReadAt<std::optional<Secret>>> ReadSecret(Connection& connection, std::string_view name);
Result<std::vector<Secret>> ReadSecrets(Connection& connection);
Result<std::vector<OpenNotice>> ReadNotices(Connection& connection);

}  // namespace muster::postgres
