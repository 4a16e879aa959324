#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/terminal/output_option.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kChannelsExamples = R"(Examples:
  muster channels                      where notices go, and what was not delivered
  muster channels test ops             send a test message, say how it went
  muster get channel ops -o yaml       the document of one

A channel is a document: muster apply -f ops.yaml makes it. Deliveries are known since the server
began to lead, undelivered notices always.)";

constexpr const char* kChannelTestExamples = R"(Examples:
  muster channels test ops             exit code 0 when it was delivered, else 1
  muster channels test ops -o json     with the status that the receiver answered)";

// "3m ago", "failed 10s ago: connection refused", "none since TIME".
std::string DeliveryText(const json::value& channel, WallTime now) {
  const auto& last = FieldOf(channel, "last_attempt");
  const auto delivered = ParseTime(TextOf(channel, "last_delivery"));
  if (!last.is_object() || FlagOf(last, "delivered")) return delivered ? Ago(delivered, now) : "-";
  return fmt::format("{}failed {}: {}", delivered ? Ago(delivered, now) + "; " : "",
                     Ago(ParseTime(TextOf(last, "at")), now), TextOf(last, "reason"));
}

std::string UndeliveredText(const json::value& channel, WallTime now) {
  const auto count = static_cast<std::uint64_t>(NumberOf(channel, "undelivered"));
  if (count == 0) return "0";
  return fmt::format("{}, since {}", Count(count),
                     Ago(ParseTime(TextOf(channel, "oldest_undelivered")), now));
}

Result<int> ListChannels(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array channels;
  const auto first =
      api->Pages("/channels", {{"limit", "500"}}, "channels", [&](const json::value& channel) {
        channels.push_back(channel);
        return true;
      });
  if (!first) return Fail(first.error());
  if (context.output == "names") {
    std::vector<std::string> names;
    for (const auto& channel : channels) names.push_back(TextOf(channel, "name"));
    PrintNames(names);
    return 0;
  }
  if (context.PrintDocument(json::object{{"channels", channels}})) return 0;
  const WallTime now = WallNow();
  Table table({"CHANNEL", "KIND", "LAST DELIVERY", "UNDELIVERED", "DESCRIPTION"});
  for (const auto& channel : channels)
    table.Add({TextOf(channel, "name"), TextOf(channel, "type"), DeliveryText(channel, now),
               UndeliveredText(channel, now), TextOf(channel, "description")});
  table.Fit(context.terminal.columns, {4, 2});
  Write(stdout, table.Text());
  return 0;
}

struct ChannelTestFlags {
  std::string name;
  std::string reason;
};

Result<int> TestChannel(const Context& context, const ChannelTestFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto path = fmt::format("/channels/{}/test", Segment(flags.name));
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto answer = Act(context, [&] { return api->Post(path, body); });
  if (!answer) return Fail(answer.error());
  const bool delivered = FlagOf(*answer, "delivered");
  if (context.PrintDocument(*answer)) return delivered ? 0 : 1;
  const auto status = NumberOf(*answer, "status");
  const auto answered = status == 0 ? "" : fmt::format(" (status {})", status);
  if (!delivered)
    return Fail(ErrorCode::kConflict, "channel {} did not take the test message{}: {}", flags.name,
                answered, LineOf(*answer, "reason"));
  Write(stdout, OwnLine(fmt::format("{}  delivered{}", flags.name, answered)));
  return 0;
}

}  // namespace

void AddChannels(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("channels", "List channels, and test them");
  command->footer(kChannelsExamples);
  AddOutputOption(*command, context, {"names"});
  command->callback([&context, command] {
    if (command->get_subcommands().empty())
      context.action = [&context] { return ListChannels(context); };
  });

  auto* test = command->add_subcommand("test", "Send a test message, say how it went");
  const auto flags = std::make_shared<ChannelTestFlags>();
  test->footer(kChannelTestExamples);
  test->add_option("name", flags->name, "Which channel")->required()->type_name("CHANNEL");
  test->add_option("--reason", flags->reason, "Why, for the audit trail");
  AddOutputOption(*test, context, {});
  test->callback([&context, flags] {
    context.action = [&context, flags] { return TestChannel(context, *flags); };
  });
}

}  // namespace muster::cli
