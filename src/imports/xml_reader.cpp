#include "imports/xml_reader.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <expat.h>

#include "base/text.hpp"

namespace muster::imports {
namespace {

// Expat is C: nothing here may throw through it. After a refusal it may still call a handler or
// two.
class XmlTree {
 public:
  XmlTree(std::string_view text, Findings& findings) : text_(text), findings_(findings) {}

  std::optional<XmlElement> Read() {
    if (parser_ == nullptr) {
      findings_.Wrong({1, 1}, "there is no memory to read it");
      return std::nullopt;
    }
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &OnBegin, &OnEnd);
    XML_SetCharacterDataHandler(parser_.get(), &OnText);
    XML_SetStartDoctypeDeclHandler(parser_.get(), &OnDoctype);
    const auto status =
        XML_Parse(parser_.get(), text_.data(), static_cast<int>(text_.size()), XML_TRUE);
    if (refused_) return std::nullopt;
    if (status == XML_STATUS_OK) return std::move(root_);
    Blame();
    return std::nullopt;
  }

 private:
  static XmlTree& Of(void* self) { return *static_cast<XmlTree*>(self); }
  static void XMLCALL OnBegin(void* self, const char* name, const char** attributes) {
    Of(self).Begin(name, attributes);
  }
  static void XMLCALL OnEnd(void* self, const char*) { Of(self).End(); }
  static void XMLCALL OnText(void* self, const char* text, int size) {
    Of(self).AddText({text, static_cast<std::size_t>(size)});
  }
  static void XMLCALL OnDoctype(void* self, const char*, const char*, const char*, int) {
    Of(self).Refuse(
        "document types (<!DOCTYPE …>) and entities are not read; take this out, exports have "
        "none");
  }

  // Expat counts lines twice after some errors, so they are counted here.
  Position Here() {
    const auto index =
        static_cast<std::size_t>(std::max<XML_Index>(0, XML_GetCurrentByteIndex(parser_.get())));
    const std::size_t end = std::min(index, text_.size());
    if (end < counted_) counted_ = 0, here_ = {1, 1};
    for (; counted_ < end; ++counted_) {
      const auto byte = static_cast<unsigned char>(text_[counted_]);
      if (byte == '\n')
        here_ = {here_.line + 1, 1};
      else if ((byte & 0xC0) != 0x80)
        ++here_.column;
    }
    return here_;
  }

  void Refuse(std::string_view sentence) {
    if (refused_) return;
    refused_ = true;
    findings_.Wrong(Here(), "{}", sentence);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  void Begin(const char* name, const char** attributes) {
    if (refused_) return;
    if (open_.size() == kMostXmlDepth)
      return Refuse(fmt::format("more than {} elements inside each other", kMostXmlDepth));
    XmlElement element{.name = name, .at = Here(), .attributes = {}, .children = {}, .text = {}};
    for (; *attributes != nullptr && parts_ <= kMostXmlParts; attributes += 2, ++parts_)
      element.attributes.push_back({attributes[0], attributes[1]});
    if (++parts_ > kMostXmlParts)
      return Refuse(fmt::format("more than {} elements and attributes; export fewer jobs at once",
                                kMostXmlParts));
    open_.push_back(std::move(element));
  }

  void End() {
    if (refused_) return;
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    if (open_.empty())
      root_ = std::move(element);
    else
      open_.back().children.push_back(std::move(element));
  }

  void AddText(std::string_view text) {
    if (!refused_ && !open_.empty()) open_.back().text += text;
  }

  void Blame() {
    const auto error = XML_GetErrorCode(parser_.get());
    const bool unclosed = error == XML_ERROR_NO_ELEMENTS && !open_.empty();
    findings_.Wrong(unclosed ? open_.back().at : Here(), "this is not XML: {}", Explained(error));
  }

  // Expat's words are for people who know its grammar.
  std::string Explained(XML_Error error) const {
    const std::string inner = open_.empty() ? "" : open_.back().name;
    if (error == XML_ERROR_NO_ELEMENTS && open_.empty()) return "there is no element in it";
    if (error == XML_ERROR_NO_ELEMENTS) return fmt::format("<{}> is never closed", inner);
    if (error == XML_ERROR_TAG_MISMATCH)
      return fmt::format("expected </{}> for what was opened in line {}", inner,
                         open_.back().at.line);
    if (error == XML_ERROR_INVALID_TOKEN) return ExplainedToken();
    if (error == XML_ERROR_UNDEFINED_ENTITY)
      return "of entities only &lt; &gt; &amp; &quot; &apos; and numbers such as &#160; are known";
    if (error == XML_ERROR_MISPLACED_XML_PI)
      return "<?xml … ?> stands at the very beginning of a file; take out what is before it, or "
             "put "
             "further exports into files of their own";
    if (error == XML_ERROR_JUNK_AFTER_DOC_ELEMENT)
      return fmt::format(
          "expected the end of the file behind </{}>; put further exports into files "
          "of their own",
          root_ ? root_->name : "");
    if (error == XML_ERROR_UNCLOSED_TOKEN) return "the tag that begins here has no end";
    if (error == XML_ERROR_UNCLOSED_CDATA_SECTION) return "<![CDATA[ begins here and has no ]]>";
    if (error == XML_ERROR_DUPLICATE_ATTRIBUTE) return "an attribute is there twice";
    if (error == XML_ERROR_UNKNOWN_ENCODING || error == XML_ERROR_INCORRECT_ENCODING)
      return "its encoding is not known here; convert it with iconv -t UTF-8, and change the first "
             "line";
    return XML_ErrorString(error);
  }

  std::string ExplainedToken() const {
    const auto index = static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
    const auto byte = static_cast<unsigned char>(index < text_.size() ? text_[index] : ' ');
    if (byte >= 0x80)
      return "this is not UTF-8 text; convert it with iconv -t UTF-8, or name its encoding in the "
             "first line: <?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>";
    if (byte < 0x20) return "this control character cannot stand in XML";
    return "this character cannot stand here; in a text, < is written &lt; and & is written &amp;, "
           "unless the text stands between <![CDATA[ and ]]>";
  }

  struct Free {
    void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
  };

  std::string_view text_;
  Findings& findings_;
  std::unique_ptr<XML_ParserStruct, Free> parser_{XML_ParserCreate(nullptr)};
  std::vector<XmlElement> open_;
  std::optional<XmlElement> root_;
  std::size_t parts_ = 0;
  bool refused_ = false;
  std::size_t counted_ = 0;  // bytes before here_
  Position here_{1, 1};
};

}  // namespace

bool IsXml(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

std::optional<XmlElement> ReadXml(std::string_view text, Findings& findings) {
  if (text.size() > kMostXmlBytes) {
    findings.Wrong({1, 1}, "the file has {}; at most {} are read, export fewer jobs at once",
                   FormatSize(text.size()), FormatSize(kMostXmlBytes));
    return std::nullopt;
  }
  return XmlTree(text, findings).Read();
}

}  // namespace muster::imports
