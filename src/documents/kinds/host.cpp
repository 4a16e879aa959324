#include "documents/kinds/host.hpp"

#include "documents/fields.hpp"
#include "documents/keys.hpp"

namespace muster::documents {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): its words

}  // namespace

const Shape& HostShape() {
  static const Shape shape = [] {
    Shape host{"host", "a host", HeadKeys("host", Form::kHost, "The host's name.")};
    Append(host.keys, {{"labels", Pairs(Form::kLabel, Text(Form::kText)), "Its labels."}});
    return host;
  }();
  return shape;
}

HostDocument BuildHost(const Context& context, const Node& root) {
  HostDocument host{.name = TextOf(root, "name"), .labels = {}};
  const Node* labels = root.Find("labels");
  if (labels == nullptr || !labels->IsMap()) return host;
  for (std::size_t i = 0; i < labels->keys.size(); ++i) {
    const std::string& name = labels->keys[i].text;
    const Node& value = labels->items[i];
    if (!value.IsText()) continue;
    if (CheckLabel(name, ""))
      if (const auto good = CheckLabel(name, value.text); !good)
        context.problems.Add(value.at, "labels: {}", good.error().message);
    host.labels[name] = value.text;
  }
  return host;
}

}  // namespace muster::documents
