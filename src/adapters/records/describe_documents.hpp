#pragma once

#include "adapters/records/field.hpp"
#include "domain/document.hpp"

// Documents that people apply.
namespace muster::records {

template <>
struct Description<FileEntry> {
  static constexpr std::tuple kFields{Field(1, &FileEntry::path), Field(2, &FileEntry::sha256),
                                      Field(3, &FileEntry::size), Field(4, &FileEntry::mode),
                                      Field(5, &FileEntry::folder)};
};

template <>
struct Description<Document> {
  static constexpr std::tuple kFields{
      Field(1, &Document::kind),   Field(2, &Document::name),   Field(3, &Document::version),
      Field(4, &Document::hash),   Field(5, &Document::text),   Field(6, &Document::attachments),
      Field(7, &Document::pushes), Field(8, &Document::labels), Field(9, &Document::by),
      Field(10, &Document::at)};
};

// Without `dropped`, which its row says.
template <>
struct Description<DocumentHead> {
  static constexpr std::tuple kFields{
      Field(1, &DocumentHead::kind),    Field(2, &DocumentHead::name),
      Field(3, &DocumentHead::version), Field(4, &DocumentHead::hash),
      Field(5, &DocumentHead::labels),  Field(6, &DocumentHead::files),
      Field(7, &DocumentHead::by),      Field(8, &DocumentHead::at)};
};

}  // namespace muster::records
