#include "documents/yaml_reader.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/text.hpp"

namespace muster::documents {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxNodes = 100'000;
constexpr std::size_t kMaxCopied = 32 << 20;
constexpr std::string_view kNoAliases =
    "aliases (*) are not used here; a text that begins with * needs quotes";

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string_view Line(std::string_view text, std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The library throws through its caller anyway; this leaves a document the same way.
struct Refused {
  Position at;
  std::string sentence;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const Piece& piece, Aliases aliases) : text_(piece.text), aliases_(aliases) {
    std::string_view rest = piece.text;
    while (true) {
      const auto end = rest.find('\n');
      lines_.push_back(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    first_line_ = piece.first_line;
  }

  Node Take() && { return std::move(root_); }

  // Where the innermost list or map begins that has not ended.
  std::optional<Position> LastOpen() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().at);
  }

  // The library counts bytes from 0.
  Position At(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    const std::string_view text = line < lines_.size() ? lines_[line] : std::string_view();
    const auto bytes = std::min(static_cast<std::size_t>(std::max(mark.column, 0)), text.size());
    if (line != counted_.line || bytes < counted_.bytes) counted_ = {.line = line};
    counted_.characters += static_cast<std::uint32_t>(std::ranges::count_if(
        text.substr(counted_.bytes, bytes - counted_.bytes), StartsCharacter));
    counted_.bytes = bytes;
    return {first_line_ + static_cast<std::uint32_t>(line), 1 + counted_.characters};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    if (aliases_ == Aliases::kTaken) return;
    throw Refused{At(mark), "anchors (&) are not used here; write the value where it is needed"};
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (aliases_ == Aliases::kRefused) throw Refused{At(mark), std::string(kNoAliases)};
    const auto named = named_.find(anchor);
    if (named == named_.end())
      throw Refused{At(mark), "this alias (*) stands inside what it names"};
    Node copy = named->second;
    CountCopy(mark, copy);
    Place(std::move(copy));
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Put(mark, anchor, {.kind = Node::Kind::kNothing});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    const bool quoted = tag == "!";
    if (!quoted && (value == "~" || value == "null"))
      return Put(mark, anchor, {.kind = Node::Kind::kNothing});
    Put(mark, anchor, {.kind = Node::Kind::kText, .at = {}, .text = value, .quoted = quoted});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckTag(mark, tag);
    Open(mark, anchor, Node::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckTag(mark, tag);
    Open(mark, anchor, Node::Kind::kMap);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  void CheckTag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Refused{At(mark), "tags (!) are not used here; a text that begins with ! needs quotes"};
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (open_.size() == kMaxDepth)
      throw Refused{At(mark), fmt::format("more than {} levels inside each other", kMaxDepth)};
    CheckAnchor(mark, anchor);
    Node node{.kind = kind};
    node.at = At(mark);
    open_.push_back(std::move(node));
    open_anchors_.push_back(anchor);
  }

  void Close() {
    Node node = std::move(open_.back());
    open_.pop_back();
    Name(open_anchors_.back(), node);
    open_anchors_.pop_back();
    Place(std::move(node));
  }

  void Put(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    CheckAnchor(mark, anchor);
    node.at = At(mark);
    const bool inside = counted_.line < lines_.size();
    node.offset = inside ? static_cast<std::size_t>(lines_[counted_.line].data() - text_.data()) +
                               counted_.bytes
                         : text_.size();
    Name(anchor, node);
    Place(std::move(node));
  }

  void Name(YAML::anchor_t anchor, const Node& node) {
    if (anchor == 0) return;
    CountCopy({}, node);
    named_.insert_or_assign(anchor, node);
  }

  // A few lines of aliases to aliases can stand for more than any memory holds.
  void CountCopy(const YAML::Mark& mark, const Node& node) {
    copied_ += sizeof(Node) + node.text.size();
    if (copied_ > kMaxCopied)
      throw Refused{At(mark),
                    fmt::format("aliases (*) stand for more than {}", FormatSize(kMaxCopied))};
    for (const Node& key : node.keys) CountCopy(mark, key);
    for (const Node& item : node.items) CountCopy(mark, item);
  }

  void CheckAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) OnAnchor(mark, "");
  }

  void Place(Node node) {
    if (++nodes_ > kMaxNodes)
      throw Refused{node.at, fmt::format("more than {} values in one document", kMaxNodes)};
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Node& holder = open_.back();
    if (holder.IsMap() && holder.keys.size() == holder.items.size()) {
      if (!node.IsText())
        throw Refused{node.at, fmt::format("expected a key, found {}", Found(node))};
      holder.keys.push_back(std::move(node));
      return;
    }
    // Where nothing stands, the library names whatever comes next.
    if (holder.IsMap() && node.kind == Node::Kind::kNothing) node.at = holder.keys.back().at;
    holder.items.push_back(std::move(node));
  }

  const std::string_view text_;
  std::vector<std::string_view> lines_;
  std::uint32_t first_line_ = 1;
  // How far a line was counted. Nodes come in order, and a line may hold a hundred thousand: each
  // counted from the line's beginning would take minutes.
  struct Counted {
    std::size_t line = 0;
    std::size_t bytes = 0;
    std::uint32_t characters = 0;
  };
  mutable Counted counted_;
  const Aliases aliases_;
  std::vector<Node> open_;
  std::vector<YAML::anchor_t> open_anchors_;
  std::unordered_map<YAML::anchor_t, Node> named_;
  std::size_t copied_ = 0;  // bytes of nodes
  Node root_;
  std::size_t nodes_ = 0;
};

// The library's words are for people who know its parser.
std::string_view Explained(std::string_view message) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"illegal map value", "': ' stands where no value can; a text with ': ' in it needs quotes"},
      {"illegal block entry", "'- ' stands where no list can; is the line indented too far?"},
      {"illegal map key", "a key stands where none can; is the line indented too far?"},
      {"end of map not found",
       "this does not go on with the keys before it; is it indented otherwise, or does a text need "
       "quotes?"},
      {"end of sequence not found",
       "this does not go on with the list before it; is it indented otherwise?"},
      {"end of map flow not found", "expected ',' or '}' for the map that was opened before"},
      {"end of sequence flow not found", "expected ',' or ']' for the list that was opened before"},
      {"illegal flow end", "this bracket closes nothing"},
      {"illegal EOF in scalar", "the quote that was opened is never closed"},
      {"unknown token", "this character begins nothing; a text that begins with it needs quotes"},
  };
  for (const auto& [theirs, ours] : kWords)
    if (message == theirs) return ours;
  // The library goes on with the name, which may be anything.
  if (message.starts_with("the referenced anchor is not defined")) return kNoAliases;
  return message;
}

bool AtEnd(const Piece& piece, Position at) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(piece.text, '\n'));
  return at.line >= piece.first_line + lines;
}

void Blame(Problems& problems, const TreeBuilder& tree, const Piece& piece,
           const YAML::Exception& problem) {
  const Position at = tree.At(problem.mark);
  const auto line = Line(piece.text, at.line - piece.first_line);
  const auto indent = line.substr(0, line.find_first_not_of(" \t"));
  if (const auto tab = indent.find('\t'); tab != std::string_view::npos)
    problems.Add({at.line, static_cast<std::uint32_t>(tab) + 1},
                 "this is not YAML: the line is indented with a tab; use spaces");
  else if (const auto open = tree.LastOpen(); open && AtEnd(piece, at))
    problems.Add(*open, "this is not YAML: what begins here is never closed");
  else
    problems.Add(at, "this is not YAML: {}", Explained(problem.msg));
}

// The library reads other encodings and swallows what it cannot show; neither is for documents.
bool IsPlainText(const Piece& piece, Problems& problems) {
  if (piece.text.size() > kMaxDocumentBytes) {
    problems.Add({piece.first_line, 1}, "a document is at most {}", FormatSize(kMaxDocumentBytes));
    return false;
  }
  std::uint32_t line = piece.first_line;
  for (const auto text : Split(piece.text, '\n')) {
    const auto odd = std::ranges::find_if(text, [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    });
    if (odd != text.end() || !IsUtf8(text)) {
      problems.Add({line, 1}, "this line {}",
                   odd != text.end() ? "has a control character" : "is not UTF-8 text");
      return false;
    }
    ++line;
  }
  return true;
}

bool IsBlank(std::string_view text) {
  return std::ranges::all_of(Split(text, '\n'), [](std::string_view line) {
    line = Trim(line);
    return line.empty() || line.starts_with('#');
  });
}

bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == 3 || line[3] == ' ' || line[3] == '\t');
}

}  // namespace

const Node* Node::FindKey(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &Node::text);
  return found == keys.end() ? nullptr : &*found;
}

const Node* Node::Find(std::string_view key) const {
  const Node* found = FindKey(key);
  return found == nullptr ? nullptr : &items[static_cast<std::size_t>(found - keys.data())];
}

std::vector<const Node*> FirstOfEach(const Node& map) {
  std::unordered_map<std::string_view, const Node*> known;
  std::vector<const Node*> first;
  for (const auto& key : map.keys) first.push_back(known.try_emplace(key.text, &key).first->second);
  return first;
}

std::string Found(const Node& node, std::size_t most) {
  switch (node.kind) {
    case Node::Kind::kNothing:
      return "nothing";
    case Node::Kind::kText:
      return fmt::format("'{}'", Shortened(node.text, most));
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map (key: value)";
  }
  return "";
}

std::vector<Piece> CutDocuments(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<Piece> pieces(1);
  std::uint32_t number = 1;
  for (auto line : Split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool begins = IsMarker(line, "---");
    if (begins || IsMarker(line, "...")) {
      // A document's text is the same wherever it stands in a file: the marker is no part of it.
      // Spaces in its place keep the columns of what stands behind it.
      const std::string behind = "   " + std::string(line.substr(3)) + "\n";
      pieces.push_back(IsBlank(behind) ? Piece{"", number + 1} : Piece{behind, number});
    } else {
      pieces.back().text += std::string(line) + "\n";
    }
    ++number;
  }
  std::erase_if(pieces, [](const Piece& piece) { return IsBlank(piece.text); });
  return pieces;
}

std::optional<Node> ReadYaml(const Piece& piece, Problems& problems, Aliases aliases) {
  if (!IsPlainText(piece, problems)) return std::nullopt;
  TreeBuilder tree(piece, aliases);
  try {
    std::istringstream stream(piece.text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(tree);
    Node root = std::move(tree).Take();
    TreeBuilder rest(piece, aliases);
    if (parser.HandleNextDocument(rest)) {
      problems.Add(std::move(rest).Take().at, "expected the end of the document or '---'");
      return std::nullopt;
    }
    return root;
  } catch (const YAML::Exception& problem) {
    Blame(problems, tree, piece, problem);
  } catch (const Refused& refused) {
    problems.Add(refused.at, "{}", refused.sentence);
  }
  return std::nullopt;
}

TextPlaces::TextPlaces(const Piece& piece, const Node& node)
    : node_(node),
      written_(std::string_view(piece.text).substr(std::min(node.offset, piece.text.size()))),
      first_column_(node.at.column) {
  if (written_.starts_with('\'') || written_.starts_with('"')) {
    written_.remove_prefix(1);
    ++first_column_;
  }
  column_ = first_column_;
}

Position TextPlaces::At(std::size_t offset) {
  if (offset < passed_) {
    column_ = first_column_;
    passed_ = 0;
    same_ = true;
  }
  const auto part = std::string_view(node_.text).substr(passed_, offset - passed_);
  same_ = same_ && !part.contains('\n') &&
          written_.substr(std::min(passed_, written_.size())).starts_with(part);
  column_ += static_cast<std::uint32_t>(std::ranges::count_if(part, StartsCharacter));
  passed_ += part.size();
  return same_ ? Position{node_.at.line, column_} : node_.at;
}

}  // namespace muster::documents
