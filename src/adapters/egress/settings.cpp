#include "adapters/egress/settings.hpp"

#include "adapters/egress/rules.hpp"

namespace muster::outside {
namespace {

Result<> CheckRule(const std::string& text) {
  if (auto rule = Rule::Parse(text); !rule) return Fail(rule.error());
  return {};
}

Result<> CheckConnectTimeout(const std::string& text) {
  const auto time = ParseDuration(text);
  if (!time) return Fail(time.error());
  if (*time >= std::chrono::milliseconds(100) && *time <= std::chrono::minutes(5)) return {};
  return Fail(ErrorCode::kInvalid, "expected a time from 100ms to 5m");
}

}  // namespace

settings::Setting Describe(OutsideSettings& outside) {
  using namespace settings;
  return settings::Section(
             "outside", "What the server calls by itself: `http` stages and channels.",
             {List("allow", outside.allow,
                   "May be called: public, networks, hosts, urls, or one of these with @NETWORK.")
                  .Checked(CheckRule),
              List("deny", outside.deny, "May not, whatever allow says.").Checked(CheckRule),
              Text("ca_file", outside.ca_file,
                   "Certificates to trust, PEM, instead of the system's."),
              Time("connect_timeout", outside.connect_timeout, "To be connected, TLS included.")
                  .Checked(CheckConnectTimeout)})
      .Live();
}

}  // namespace muster::outside
