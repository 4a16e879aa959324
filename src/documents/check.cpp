#include "documents/check.hpp"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "domain/param.hpp"

namespace muster::documents {
namespace {

class Checker {
 public:
  Checker(Problems& problems, ReadBudget& budget) : problems_(problems), budget_(budget) {}

  void Map(const Node& node, const Shape& shape) {
    const Node* outer = stage_;
    if (shape.is_stage) stage_ = &node;
    const auto first = FirstOfEach(node);
    std::set<std::string_view> misspelt;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      if (GivenBefore(node.keys[i], *first[i])) continue;
      const Key* key = shape.Find(node.keys[i].text);
      if (key == nullptr)
        Unknown(node.keys[i], shape, misspelt);
      else if (!key->refused.empty())
        problems_.Add(node.keys[i].at, "'{}' has no place in {}: {}", key->name, shape.title,
                      key->refused);
      else
        Behind(node.items[i], key->type, key->name);
    }
    Required(node, shape, misspelt);
    stage_ = outer;
  }

  std::vector<TemplateUse> Take() && { return std::move(uses_); }

 private:
  bool GivenBefore(const Node& key, const Node& first) {
    if (&first == &key) return false;
    problems_.Add(key.at, "'{}' is given twice; the first is on line {}", Shortened(key.text),
                  first.at.line);
    return true;
  }

  // `misspelt` gets what it was probably meant to be.
  void Unknown(const Node& key, const Shape& shape, std::set<std::string_view>& misspelt) {
    if (problems_.Tells(key.at)) misspelt.insert(Nearest(key.text, shape.Names()));
    problems_.Add(key.at, "unknown key '{}' in {}{}", Shortened(key.text), shape.title,
                  problems_.Suggest(key.at, key.text, [&] { return shape.Names(); }));
  }

  // One that is misspelt was told as an unknown key already.
  void Required(const Node& node, const Shape& shape, const std::set<std::string_view>& misspelt) {
    for (const auto& key : shape.keys)
      if (key.required && node.FindKey(key.name) == nullptr && !misspelt.contains(key.name))
        problems_.Add(node.at, "{} needs '{}', which is {}", shape.title, key.name,
                      Describe(key.type));
    for (const auto& group : shape.one_of) {
      std::vector<const Node*> given;
      for (const auto name : group)
        if (const Node* key = node.FindKey(name)) given.push_back(key);
      if (given.empty())
        problems_.Add(node.at, "{} needs '{}'", shape.title, fmt::join(group, "' or '"));
      else if (given.size() > 1)
        problems_.Add(std::max(given[0]->at, given[1]->at), "{} has either '{}', not both",
                      shape.title, fmt::join(group, "' or '"));
    }
  }

  void Behind(const Node& node, const Type& type, std::string_view key) {
    switch (node.kind) {
      case Node::Kind::kNothing:
        if (type.nothing) return;
        problems_.Add(node.at, "'{}' is empty; expected {}", key, Describe(type));
        return;
      case Node::Kind::kText:
        if (type.value) return Single(node, *type.value, key);
        break;
      case Node::Kind::kList:
        if (type.item) return List(node, type, key);
        break;
      case Node::Kind::kMap:
        if (type.map != nullptr) return Map(node, *type.map);
        if (type.pairs) return Pairs(node, type, key);
        break;
    }
    problems_.Add(node.at, "'{}' takes {}, found {}", key, Describe(type), Found(node));
  }

  void List(const Node& node, const Type& type, std::string_view key) {
    if (node.items.empty() && type.must_hold_something)
      problems_.Add(node.at, "the list of '{}' is empty", key);
    for (const auto& item : node.items) Behind(item, *type.item, key);
  }

  void Pairs(const Node& node, const Type& type, std::string_view key) {
    if (node.keys.empty()) problems_.Add(node.at, "the map of '{}' is empty", key);
    const auto first = FirstOfEach(node);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      if (GivenBefore(node.keys[i], *first[i])) continue;
      if (const auto name = CheckValue(*type.pair_name, node.keys[i].text); !name)
        problems_.Add(node.keys[i].at, "{}: {}", key, name.error().message);
      Behind(node.items[i], *type.pairs, node.keys[i].text);
    }
  }

  void Single(const Node& node, const Value& value, std::string_view key) {
    if (!MayHoldTemplate(value) && HasExpressions(node.text)) {
      problems_.Add(node.at, "'{}' takes no template: nothing is evaluated here", key);
      return;
    }
    // An empty text is never meant, except where it is data.
    const bool may_be_empty = value.form == Form::kTemplate || value.form == Form::kProse ||
                              value.form == Form::kText || value.form == Form::kPointer;
    if (node.text.empty() && !may_be_empty) {
      problems_.Add(node.at, "'{}' is empty; expected {}", key, Describe({.value = value}));
      return;
    }
    if (const auto good = Check(value, node.text); !good) {
      const std::string& message = good.error().message;
      if (message.starts_with(key))
        problems_.Add(node.at, "{}", message);
      else
        problems_.Add(node.at, "{}: {}", key, message);
      return;
    }
    if (value.place != Place::kNowhere) Keep(node, value);
  }

  Result<> Check(const Value& value, const std::string& text) {
    if (value.form == Form::kTargets)
      if (auto counted = budget_.CountTargets(text); !counted) return counted;
    if (value.form == Form::kPattern)
      if (auto counted = budget_.CountPattern(); !counted) return counted;
    if (value.form == Form::kPattern)
      if (auto counted = CountPattern(text); !counted) return counted;
    return CheckValue(value, text);
  }

  // Each is compiled, which takes up to 30 ms a kilobyte.
  Result<> CountPattern(const std::string& text) {
    pattern_bytes_ += text.size();
    if (++patterns_ <= kMaxPatterns && pattern_bytes_ <= kMaxPatternsBytes) return {};
    return Fail(ErrorCode::kInvalid, "a job has at most {} patterns, with {} together",
                kMaxPatterns, FormatSize(kMaxPatternsBytes));
  }

  void Keep(const Node& node, const Value& value) {
    auto names = value.form == Form::kCondition ? NamesInCondition(node.text) : NamesIn(node.text);
    if (names) uses_.push_back({&node, stage_, value.place, std::move(*names)});
  }

  Problems& problems_;
  ReadBudget& budget_;
  std::size_t patterns_ = 0;
  std::size_t pattern_bytes_ = 0;
  const Node* stage_ = nullptr;
  std::vector<TemplateUse> uses_;
};

}  // namespace

std::vector<TemplateUse> CheckShape(const Node& root, const Shape& shape, Problems& problems,
                                    ReadBudget& budget) {
  Checker checker(problems, budget);
  checker.Map(root, shape);
  return std::move(checker).Take();
}

}  // namespace muster::documents
