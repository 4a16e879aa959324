#include "cli/documents/document_diff.hpp"

#include <set>

#include <boost/json.hpp>

#include "cli/terminal/text_diff.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

// Of a script: its text, or a line that stands for its bytes.
std::string AttachmentText(const json::value& attachments, const std::string& path) {
  const auto& content = FieldOf(attachments, path);
  if (content.is_string()) return std::string(content.get_string());
  const auto bytes = TextOf(content, "base64");
  return bytes.empty() ? "" : fmt::format("(not text) {}\n", bytes);
}

// A line for each file that is pushed.
std::string PushText(const json::value& pushes, const std::string& path) {
  std::string text;
  for (const auto& file : ListOf(pushes, path))
    text += fmt::format("{} {} {}\n", TextOf(file, "mode"), TextOf(file, "path"),
                        FlagOf(file, "folder") ? "folder" : TextOf(file, "sha256"));
  return text;
}

std::set<std::string> KeysOf(const json::value& from, const json::value& to,
                             std::string_view field) {
  std::set<std::string> keys;
  for (const auto* document : {&from, &to})
    if (const auto* object = FieldOf(*document, field).if_object())
      for (const auto& entry : *object) keys.emplace(entry.key());
  return keys;
}

class VersionsDiff {
 public:
  VersionsDiff(std::string title, const json::value& from, const json::value& to)
      : title_(std::move(title)), from_(from), to_(to) {
    Add("", TextOf(from, "text"), TextOf(to, "text"));
    Compare("attachments", "", AttachmentText);
    Compare("pushes", " (pushed)", PushText);
  }
  const std::string& Text() const { return text_; }

 private:
  using TextOfKey = std::string (*)(const json::value& field, const std::string& key);

  void Compare(std::string_view field, std::string_view what, TextOfKey text_of) {
    for (const auto& path : KeysOf(from_, to_, field))
      Add(fmt::format(": {}{}", path, what), text_of(FieldOf(from_, field), path),
          text_of(FieldOf(to_, field), path));
  }

  void Add(const std::string& part, const std::string& before, const std::string& after) {
    const auto diff = TextDiff(before, after);
    if (diff.empty()) return;
    text_ +=
        fmt::format("--- {}, version {}{}\n+++ {}, version {}{}\n{}", title_,
                    NumberOf(from_, "version"), part, title_, NumberOf(to_, "version"), part, diff);
  }

  std::string title_;
  const json::value& from_;
  const json::value& to_;
  std::string text_;
};

}  // namespace

Result<int> PrintVersionsDiff(const Context& context, ApiClient& api, const std::string& kind,
                              const std::string& name, const std::vector<std::uint32_t>& versions) {
  const auto path = fmt::format("/documents/{}/{}", Segment(kind), Segment(name));
  const auto read = [&](std::size_t i) {
    return i < versions.size() ? api.Get(path, {{"version", std::to_string(versions[i])}})
                               : api.Get(path);
  };
  const auto from = read(0);
  if (!from) return Fail(from.error());
  const auto to = read(1);
  if (!to) return Fail(to.error());
  const VersionsDiff diff(fmt::format("{} {}", kind, name), *from, *to);
  if (context.PrintDocument(json::object{{"kind", kind},
                                         {"name", name},
                                         {"from", FieldOf(*from, "version")},
                                         {"to", FieldOf(*to, "version")},
                                         {"diff", diff.Text()}}))
    return 0;
  WriteCopy(stdout, diff.Text());
  if (diff.Text().empty())
    context.Say(fmt::format("versions {} and {} of {} {} do not differ", NumberOf(*from, "version"),
                            NumberOf(*to, "version"), kind, name));
  return 0;
}

}  // namespace muster::cli
