#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "documents/problems.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/xml_reader.hpp"

// Exports in XML have what those in YAML have, with attributes and other names. Here a job of the
// one becomes a job of the other, so that the rest of the import knows one form.
namespace muster::imports {
namespace {

Node TextNode(Position at, std::string text) {
  return {.kind = Node::Kind::kText, .at = at, .text = std::move(text), .quoted = true};
}

// A map that grows by keys. One that is there already gets a list, as Rundeck reads elements of one
// name.
class MapNode {
 public:
  explicit MapNode(Position at) { node_.kind = Node::Kind::kMap, node_.at = at; }

  void Put(const std::string& key, Position at, Node value) {
    const auto [place, fresh] = places_.try_emplace(key, node_.items.size());
    if (fresh) {
      node_.keys.push_back(TextNode(at, key));
      node_.items.push_back(std::move(value));
      return;
    }
    Node& there = node_.items[place->second];
    if (lists_.insert(place->second).second) {
      Node list{.kind = Node::Kind::kList, .at = there.at};
      list.items.push_back(std::move(there));
      there = std::move(list);
    }
    there.items.push_back(std::move(value));
  }
  void Put(const std::string& key, Position at, const std::string& text) {
    Put(key, at, TextNode(at, text));
  }
  void PutAttributes(const XmlElement& element) {
    for (const auto& [name, value] : element.attributes) Put(name, element.at, value);
  }

  Node Take() && { return std::move(node_); }

 private:
  Node node_;
  std::unordered_map<std::string, std::size_t> places_;
  std::set<std::size_t> lists_;
};

const std::string* XmlValue(const XmlElement& element, std::string_view name) {
  const auto found = std::ranges::find(element.attributes, name, &XmlAttribute::name);
  return found == element.attributes.end() ? nullptr : &found->value;
}

bool IsBlankText(const std::string& text) { return Trim(text).empty(); }

// Scripts and descriptions are as they were written, other texts without the spaces around them.
std::string XmlText(const XmlElement& element) {
  const bool verbatim = element.name == "script" || element.name == "exec" ||
                        element.name == "description" || element.name == "scriptargs";
  if (verbatim && !IsBlankText(element.text)) return element.text;
  return std::string(Trim(element.text));
}

// A text, or a map of attributes and elements.
Node ValueOf(const XmlElement& element) {
  if (element.attributes.empty() && element.children.empty())
    return TextNode(element.at, XmlText(element));
  MapNode map(element.at);
  map.PutAttributes(element);
  for (const auto& child : element.children) map.Put(child.name, child.at, ValueOf(child));
  if (!IsBlankText(element.text)) map.Put("(text)", element.at, XmlText(element));
  return std::move(map).Take();
}

// The attribute of that name, where YAML has its text alone: <year year='*'/>.
Node OnlyAttribute(const XmlElement& element, std::string_view name) {
  const auto* value = XmlValue(element, name);
  return value == nullptr ? ValueOf(element) : TextNode(element.at, *value);
}

Node ScheduleNode(const XmlElement& schedule) {
  MapNode map(schedule.at);
  map.PutAttributes(schedule);
  for (const auto& child : schedule.children) {
    const auto* day = XmlValue(child, "day");
    if (child.name == "month" && day != nullptr) {
      MapNode days(child.at);
      days.Put("day", child.at, *day);
      map.Put("dayofmonth", child.at, std::move(days).Take());
    }
    if (child.name != "month" && child.name != "year")
      map.Put(child.name, child.at, ValueOf(child));
    else if (XmlValue(child, child.name) != nullptr || day == nullptr)
      map.Put(child.name, child.at, OnlyAttribute(child, child.name));
  }
  return std::move(map).Take();
}

Node ChoicesNode(Position at, std::string_view values, std::string_view delimiter) {
  Node list{.kind = Node::Kind::kList, .at = at};
  while (true) {
    const auto end = values.find(delimiter);
    list.items.push_back(TextNode(at, std::string(values.substr(0, end))));
    if (end == std::string_view::npos) break;
    values.remove_prefix(end + delimiter.size());
  }
  return list;
}

Node OptionNode(const XmlElement& option) {
  const Node plain = ValueOf(option);
  MapNode map(option.at);
  const auto* delimiter = XmlValue(option, "valuesListDelimiter");
  for (std::size_t i = 0; i < plain.keys.size(); ++i) {
    const auto& key = plain.keys[i].text;
    const Node& value = plain.items[i];
    const bool choices = key == "values" && value.IsText();
    map.Put(key == "enforcedvalues" ? "enforced" : key, plain.keys[i].at,
            choices ? ChoicesNode(value.at, value.text,
                                  delimiter == nullptr || delimiter->empty() ? "," : *delimiter)
                    : value);
  }
  return std::move(map).Take();
}

Node EntriesNode(const XmlElement& configuration) {
  MapNode map(configuration.at);
  for (const auto& child : configuration.children) {
    const auto* key = XmlValue(child, "key");
    const auto* value = XmlValue(child, "value");
    if (child.name == "entry" && key != nullptr)
      map.Put(*key, child.at, value == nullptr ? std::string() : *value);
    else
      map.Put(child.name, child.at, ValueOf(child));
  }
  return std::move(map).Take();
}

// Threads and what goes on when a host fails are a part of the node filter in YAML.
void PutNodeFilter(MapNode& map, const XmlElement* filters, const XmlElement* dispatch) {
  if (filters == nullptr && dispatch == nullptr) return;
  const auto at = filters == nullptr ? dispatch->at : filters->at;
  MapNode node(at);
  MapNode threads(dispatch == nullptr ? at : dispatch->at);
  if (dispatch != nullptr)
    for (const auto& child : dispatch->children) threads.Put(child.name, child.at, ValueOf(child));
  if (filters != nullptr) {
    for (const auto& [name, value] : filters->attributes)
      if (name == "excludeprecedence")
        threads.Put("excludePrecedence", at, value);
      else
        node.Put(name, at, value);
    for (const auto& child : filters->children) node.Put(child.name, child.at, ValueOf(child));
  }
  if (dispatch != nullptr) node.Put("dispatch", dispatch->at, std::move(threads).Take());
  map.Put("nodefilters", at, std::move(node).Take());
}

const XmlElement* ChildOf(const XmlElement& element, std::string_view name) {
  const auto found = std::ranges::find(element.children, name, &XmlElement::name);
  return found == element.children.end() ? nullptr : &*found;
}

Node JobReferenceNode(const XmlElement& reference) {
  MapNode map(reference.at);
  map.PutAttributes(reference);
  for (const auto& child : reference.children) {
    if (child.name == "arg")
      map.Put("args", child.at, OnlyAttribute(child, "line"));
    else if (child.name != "nodefilters" && child.name != "dispatch")
      map.Put(child.name, child.at, ValueOf(child));
  }
  PutNodeFilter(map, ChildOf(reference, "nodefilters"), ChildOf(reference, "dispatch"));
  return std::move(map).Take();
}

void PutInterpreter(MapNode& map, const XmlElement& interpreter) {
  map.Put("scriptInterpreter", interpreter.at, XmlText(interpreter));
  if (const auto* quoted = XmlValue(interpreter, "argsquoted"))
    map.Put("interpreterArgsQuoted", interpreter.at, *quoted);
}

void PutPlugin(MapNode& map, const XmlElement& plugin) {
  map.Put("nodeStep", plugin.at, std::string(plugin.name == "node-step-plugin" ? "true" : "false"));
  map.PutAttributes(plugin);
  for (const auto& child : plugin.children)
    map.Put(child.name, child.at,
            child.name == "configuration" ? EntriesNode(child) : ValueOf(child));
}

Node CommandNode(const XmlElement& command) {
  MapNode map(command.at);
  map.PutAttributes(command);
  for (const auto& child : command.children) {
    if (child.name == "errorhandler")
      map.Put(child.name, child.at, CommandNode(child));
    else if (child.name == "jobref")
      map.Put(child.name, child.at, JobReferenceNode(child));
    else if (child.name == "scriptargs")
      map.Put("args", child.at, ValueOf(child));
    else if (child.name == "scriptinterpreter")
      PutInterpreter(map, child);
    else if (child.name == "step-plugin" || child.name == "node-step-plugin")
      PutPlugin(map, child);
    else
      map.Put(child.name, child.at, ValueOf(child));
  }
  return std::move(map).Take();
}

Node SequenceNode(const XmlElement& sequence) {
  MapNode map(sequence.at);
  map.PutAttributes(sequence);
  Node commands{.kind = Node::Kind::kList, .at = sequence.at};
  for (const auto& child : sequence.children)
    if (child.name == "command")
      commands.items.push_back(CommandNode(child));
    else
      map.Put(child.name, child.at, ValueOf(child));
  map.Put("commands", sequence.at, std::move(commands));
  return std::move(map).Take();
}

void PutContext(MapNode& map, const XmlElement& context) {
  for (const auto& child : context.children) {
    if (child.name != "options") {
      map.Put(child.name, child.at, ValueOf(child));
      continue;
    }
    Node options{.kind = Node::Kind::kList, .at = child.at};
    for (const auto& option : child.children)
      if (option.name == "option") options.items.push_back(OptionNode(option));
    map.Put("options", child.at, std::move(options));
  }
}

void PutLogging(MapNode& map, const XmlElement& logging) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"limit", "loglimit"}, {"limitAction", "loglimitAction"}, {"status", "loglimitStatus"}};
  for (const auto& [theirs, ours] : kNames)
    if (const auto* value = XmlValue(logging, theirs)) map.Put(ours, logging.at, *value);
}

Node JobNode(const XmlElement& job, Findings& findings) {
  MapNode map(job.at);
  map.PutAttributes(job);
  std::set<std::string_view> seen;
  for (const auto& child : job.children) {
    if (!seen.insert(child.name).second)
      findings.Wrong(child.at, "this job has a second <{}>", documents::Shortened(child.name));
    else if (child.name == "context")
      PutContext(map, child);
    else if (child.name == "schedule")
      map.Put(child.name, child.at, ScheduleNode(child));
    else if (child.name == "sequence")
      map.Put(child.name, child.at, SequenceNode(child));
    else if (child.name == "logging")
      PutLogging(map, child);
    else if (child.name != "nodefilters" && child.name != "dispatch")
      map.Put(child.name, child.at, ValueOf(child));
  }
  PutNodeFilter(map, ChildOf(job, "nodefilters"), ChildOf(job, "dispatch"));
  return std::move(map).Take();
}

}  // namespace

std::vector<Node> JobsOfXml(std::string_view text, Findings& findings) {
  std::vector<Node> jobs;
  const auto root = ReadXml(text, findings);
  if (!root) return jobs;
  if (root->name != "joblist") {
    findings.Wrong(root->at,
                   "expected <joblist>, found <{}>: this is no export of jobs; make one with 'rd "
                   "jobs list -p PROJECT -F yaml --file jobs.yaml', or in the job's menu",
                   documents::Shortened(root->name));
    return jobs;
  }
  for (const auto& child : root->children)
    if (child.name == "job")
      jobs.push_back(JobNode(child, findings));
    else
      findings.Wrong(child.at, "expected <job>, found <{}>", documents::Shortened(child.name));
  if (jobs.empty() && findings.Good()) findings.Wrong(root->at, "there is no job in it");
  return jobs;
}

}  // namespace muster::imports
