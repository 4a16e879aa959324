#include "documents/documents.hpp"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "documents/check.hpp"
#include "documents/fields.hpp"
#include "documents/yaml_reader.hpp"

namespace muster::documents {
namespace {

// What kind a document says it is; nothing when that is a problem.
std::optional<Kind> KindIn(const Node& root, Problems& problems) {
  if (!root.IsMap()) {
    problems.Add(root.at, "expected a document (key: value), found {}",
                 Found(root, kMostOfAnything));
    return std::nullopt;
  }
  const Node* kind = root.Find("kind");
  if (kind == nullptr) {
    problems.Add(root.at, "a document needs 'kind', which is {}", Either(KindNames()));
    return std::nullopt;
  }
  const auto known = kind->IsText() ? ParseKind(kind->text) : std::nullopt;
  if (!known)
    problems.Add(kind->at, "unknown kind {}{}", Found(*kind, kMostOfAnything),
                 Suggestion(kind->text, KindNames()));
  return known;
}

std::optional<Document> ReadOne(const Source& source, const Piece& piece,
                                const ScriptReader& scripts, Problems& problems,
                                ReadBudget& budget) {
  const auto root = ReadYaml(piece, problems);
  if (!root) return std::nullopt;
  const auto kind = KindIn(*root, problems);
  if (!kind) return std::nullopt;
  budget.BeginDocument();
  const KindRow& row = RowOf(*kind);
  const auto uses = CheckShape(*root, row.shape(), problems, budget);
  const Context context{source.file, piece, scripts, problems, budget};
  return Document{source.file, root->at, piece.text, row.build(context, *root, uses)};
}

class Reader {
 public:
  explicit Reader(const ScriptReader& scripts) : scripts_(scripts) {}

  void Read(const Source& source) {
    const auto pieces = CutDocuments(source.text);
    if (pieces.empty())
      reading_.problems.push_back({source.file, {}, "there is no document in this file"});
    for (const auto& piece : pieces) {
      Problems problems;
      auto document = ReadOne(source, piece, scripts_, problems, budget_);
      if (document) CheckOnce(*document, problems);
      if (document && problems.Empty()) reading_.documents.push_back(std::move(*document));
      for (auto& problem : std::move(problems).Take(source.file))
        reading_.problems.push_back(std::move(problem));
    }
  }

  Reading Take() && { return std::move(reading_); }

 private:
  void CheckOnce(const Document& document, Problems& problems) {
    const auto& name = NameOf(document);
    if (name.empty()) return;
    const auto place = fmt::format("{}:{}", document.file, document.position.line);
    const auto [first, fresh] = seen_.emplace(std::pair(KindOf(document), name), place);
    if (!fresh)
      problems.Add(document.position, "{} '{}' is given twice; the first is at {}",
                   Name(KindOf(document)), name, first->second);
  }

  const ScriptReader& scripts_;
  Reading reading_;
  ReadBudget budget_;
  std::map<std::pair<Kind, std::string>, std::string> seen_;
};

}  // namespace

Kind KindOf(const Document& document) noexcept { return static_cast<Kind>(document.body.index()); }

const std::string& NameOf(const Document& document) noexcept {
  return std::visit([](const auto& body) -> const std::string& { return body.name; },
                    document.body);
}

std::string Format(const Document& document) { return document.text; }

std::string Written(const Problem& problem) {
  return fmt::format("{}:{}:{}: {}", problem.file, problem.position.line, problem.position.column,
                     problem.sentence);
}

Reading ReadDocuments(std::span<const Source> sources, const ScriptReader& scripts) {
  Reader reader(scripts);
  for (const auto& source : sources) reader.Read(source);
  return std::move(reader).Take();
}

Result<std::vector<Document>> ReadAll(std::span<const Source> sources,
                                      const ScriptReader& scripts) {
  auto reading = ReadDocuments(sources, scripts);
  if (reading.problems.empty()) return std::move(reading.documents);
  std::vector<std::string> lines;
  for (const auto& problem : reading.problems) lines.push_back(Written(problem));
  return Fail(ErrorCode::kInvalid, "{}", fmt::join(lines, "\n"));
}

}  // namespace muster::documents
