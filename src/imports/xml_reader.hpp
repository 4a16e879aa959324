#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imports/findings.hpp"

// XML as a small tree, with bounds, for exports of other tools. Expat shows nowhere else.
namespace muster::imports {

struct XmlAttribute {
  std::string name;
  std::string value;
};

struct XmlElement {
  std::string name;  // with its prefix, if it has one
  Position at;       // of its first tag
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;
  std::string text;  // directly in it, without the text of its children
};

constexpr std::size_t kMostXmlBytes = 8 << 20;
constexpr std::size_t kMostXmlDepth = 32;
constexpr std::size_t kMostXmlParts = 300'000;  // elements and attributes

// Whether a text is meant as XML: its first character that is no space is '<'.
bool IsXml(std::string_view text);

// The root element. Document types (<!DOCTYPE) are refused before anything in them is read, and
// with them all entities but the five of XML itself: a text stands for no more than its own length,
// and names no other file. Nothing when the text is no XML or is more than the bounds above;
// `findings` then say where and why.
std::optional<XmlElement> ReadXml(std::string_view text, Findings& findings);

}  // namespace muster::imports
