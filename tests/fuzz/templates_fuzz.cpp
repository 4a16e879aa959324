#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/template.hpp"

namespace {

// Knows every name of two parts or more, so that both ways of a default are taken.
class Echo final : public muster::TemplateScope {
 public:
  muster::Result<std::string> Find(std::span<const std::string> path) const override {
    if (path.size() == 1) return muster::Fail(muster::ErrorCode::kNotFound, "no {}", path[0]);
    return muster::WrittenName(path);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto names = muster::NamesIn(text);
  const auto rendered = muster::Render(text, Echo());
  // What does not parse is never rendered, and what has no expressions is left alone.
  MUSTER_CHECK(names || !rendered);
  MUSTER_CHECK(!rendered || rendered->size() <= muster::kMaxTemplateOutput);
  if (!muster::HasExpressions(text)) MUSTER_CHECK(rendered && *rendered == text);
  if (names) {
    for (const auto& name : *names) {
      const auto again = muster::NamesIn("${{ " + muster::WrittenName(name.path) + " }}");
      MUSTER_CHECK(again && again->size() == 1 && again->front().path == name.path);
    }
  }
  const auto condition = muster::NamesInCondition(text);
  const auto holds = muster::Holds(text, Echo());
  MUSTER_CHECK(condition || !holds);
  return 0;
}
