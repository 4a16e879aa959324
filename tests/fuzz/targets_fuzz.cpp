#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"

namespace {

class NoContext final : public muster::TargetContext {
 public:
  muster::Result<muster::NameSet> Group(std::string_view) const override { return Only("web1"); }
  muster::Result<muster::NameSet> RunHosts(std::string_view, std::string_view) const override {
    return Only("web2");
  }

 private:
  static muster::NameSet Only(const char* name) {
    return std::make_shared<const std::set<std::string>>(std::set<std::string>{name});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::Host host;
  host.name = "web1";
  host.labels["zone"] = text.substr(0, 20);
  const std::vector<const muster::Host*> hosts{&host};
  if (const auto expression = muster::TargetExpression::Parse(text)) {
    (void)expression->Resolve(hosts, NoContext());
    (void)expression->SaysAll();
  }
  // Whatever the value, quoting makes it one literal.
  const auto quoted = muster::TargetExpression::Parse("zone=" + muster::QuoteTargetValue(text));
  if (quoted)
    MUSTER_CHECK(quoted->Groups().empty() && quoted->Runs().empty() && !quoted->SaysAll());

  if (const auto names = muster::ExpandHostRanges(text, 1000)) {
    const auto again = muster::ExpandHostRanges(muster::FoldHostNames(*names), 1000);
    // Only text without brackets is a name; the rest need not fold.
    MUSTER_CHECK(!again || again->size() <= 1000);
  }
  return 0;
}
