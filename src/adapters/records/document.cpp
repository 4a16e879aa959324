#include "adapters/records/compress.hpp"
#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"

namespace muster::records {
namespace {

void PutFile(const FileEntry& file, wire::FileEntry* out) {
  out->set_path(file.path);
  out->set_sha256(file.sha256);
  out->set_size(file.size);
  out->set_mode(file.mode);
  out->set_folder(file.folder);
}

FileEntry TakeFile(const wire::FileEntry& in) {
  return {.path = in.path(),
          .sha256 = in.sha256(),
          .size = in.size(),
          .mode = in.mode(),
          .folder = in.folder()};
}

}  // namespace

Result<std::string> EncodeDocument(const Document& document) {
  wire::Document out;
  out.set_kind(document.kind);
  out.set_name(document.name);
  out.set_version(document.version);
  out.set_hash(document.hash);
  out.set_text(document.text);
  PutPairs(document.attachments, out.mutable_attachments());
  for (const auto& [path, files] : document.pushes) {
    auto* pushed = out.add_pushes();
    pushed->set_path(path);
    for (const auto& file : files) PutFile(file, pushed->add_files());
  }
  PutPairs(document.labels, out.mutable_labels());
  out.set_by(document.by);
  out.set_at_ms(document.at.ms);
  return PackMessage(out);
}

Result<Document> DecodeDocument(std::string_view blob) {
  auto unpacked = Unpack(blob);
  if (!unpacked) return Fail(unpacked.error());
  wire::Document in;
  if (auto parsed = Parse(*unpacked, &in); !parsed) return Fail(parsed.error());
  Document document{.kind = in.kind(),
                    .name = in.name(),
                    .version = in.version(),
                    .hash = in.hash(),
                    .text = in.text(),
                    .attachments = TakePairs(in.attachments()),
                    .pushes = {},
                    .labels = TakePairs<Labels>(in.labels()),
                    .by = in.by(),
                    .at = WallTime{in.at_ms()}};
  for (const auto& pushed : in.pushes()) {
    auto& files = document.pushes[pushed.path()];
    for (const auto& file : pushed.files()) files.push_back(TakeFile(file));
  }
  return document;
}

std::string EncodeDocumentHead(const DocumentHead& head) {
  wire::DocumentHead out;
  out.set_kind(head.kind);
  out.set_name(head.name);
  out.set_version(head.version);
  out.set_hash(head.hash);
  PutPairs(head.labels, out.mutable_labels());
  for (const auto& file : head.files) out.add_files(file);
  out.set_by(head.by);
  out.set_at_ms(head.at.ms);
  return out.SerializeAsString();
}

Result<DocumentHead> DecodeDocumentHead(std::string_view blob) {
  wire::DocumentHead in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return DocumentHead{.kind = in.kind(),
                      .name = in.name(),
                      .version = in.version(),
                      .hash = in.hash(),
                      .dropped = false,
                      .labels = TakePairs<Labels>(in.labels()),
                      .files = {in.files().begin(), in.files().end()},
                      .by = in.by(),
                      .at = WallTime{in.at_ms()}};
}

Result<> FillOldHeads(std::vector<DocumentHead>& heads, const ReadDocumentOf& read) {
  for (auto& head : heads) {
    if (head.at != WallTime{}) continue;
    auto document = read(head);
    if (!document) return Fail(document.error());
    if (!*document) continue;
    head.by = (*document)->by;
    head.at = (*document)->at;
  }
  return {};
}

}  // namespace muster::records
