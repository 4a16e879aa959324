#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/run.hpp"
#include "server/api/call.hpp"
#include "server/api/run_request.hpp"
#include "server/live/stream_hub.hpp"

namespace {

// Keeps what it is told; an answer must always be text that JSON can carry.
class Listener final : public muster::net::HttpExchange {
 public:
  void Respond(muster::net::HttpResponse response) override {
    boost::system::error_code problem;
    boost::json::parse(response.body, problem);
    MUSTER_CHECK(!problem);
  }
  void BeginStream(int, muster::net::Headers) override {}
  void Write(std::string) override {}
  void End() override {}
  bool Gone() const override { return false; }
  std::size_t Unsent() const override { return 0; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, muster::net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()>) override {}
  void Keep(std::shared_ptr<void>) override {}
  void ReadBody(std::function<void(muster::net::BodyPiece)>) override {}
};

}  // namespace

// The first line is the target of a request, the rest its body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto line = bytes.find('\n');
  net::HttpRequest request{.method = "POST", .target = std::string(bytes.substr(0, line))};
  if (line != std::string_view::npos) request.body = bytes.substr(line + 1);
  server::api::Call call(std::move(request), std::make_shared<Listener>(), "q1");
  for (const char* name : {"limit", "from", "after"})
    if (const auto number = call.QueryNumber(name, 5, 1, 100))
      MUSTER_CHECK(*number >= 1 && *number <= 100);
  (void)server::StreamHub::ParseTopics(call.Query("topics"));
  (void)ParseRunId(call.Query("run"));
  (void)ParseTime(call.Query("since"));

  const auto body = call.Body();
  bool too_large = false;
  if (body) {
    const auto run = server::api::ReadRunRequest(*body, too_large);
    if (!run) {
      call.Fail(run.error());
      return 0;
    }
    const auto& stage = run->spec.stages.at(0);
    const Command* command = CommandOf(stage);
    MUSTER_CHECK(command &&
                 command->IsProcess() == (command->argv.empty() != command->script.empty()));
    MUSTER_CHECK(IsUtf8(run->spec.title) && !run->spec.title.empty());
  }
  call.Fail(404, "not_found", fmt::format("there is no '{}' here", call.Path()));
  return 0;
}
