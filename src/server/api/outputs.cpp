#include "server/api/outputs.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kPage = 200;               // hosts
constexpr std::size_t kOutputPiece = 256 << 10;  // of one output

struct OutputRequest {
  RunResults::Choice choice;
  std::optional<Stream> only;
};

class Outputs final : public LineStream {
 public:
  Outputs(OutputServices& services, const Call& call, OutputRequest request,
          std::shared_ptr<void> place)
      : LineStream(services.streams, call, std::move(place)),
        services_(services),
        request_(std::move(request)) {}

 private:
  struct Output {
    std::string host;
    TaskRecord record;
  };

  Result<bool> GoOn() override { return current_ ? ReadOn() : NextTask(); }
  json::object Last(bool complete) const override {
    return {{"hosts", hosts_}, {"bytes", bytes_}, {"more", !complete}};
  }

  // False: there is no task left.
  Result<bool> NextTask() {
    Spend(4096);  // a look-up is not free either
    if (page_.empty()) return NextPage();
    current_ = std::move(page_.front());
    page_.pop_front();
    offset_ = 0;
    return true;
  }

  Result<bool> NextPage() {
    if (!from_) return false;
    const auto window = services_.results.RowsOf(request_.choice, {.from = *from_, .limit = kPage});
    if (!window) return Fail(window.error());
    from_ = window->next;
    std::vector<TaskKey> keys;
    for (const auto& row : window->rows)
      if (row.key.attempt) keys.push_back(row.key);
    auto records = services_.streams.store.FindTasks(keys);
    if (!records) return Fail(records.error());
    for (auto& record : records->value)
      if (record && record->sent)
        page_.push_back({(*window->targets)[record->key.ordinal].name, std::move(*record)});
    return true;
  }

  Result<bool> ReadOn() {
    const TaskKey& task = current_->record.key;
    const auto chunks = services_.streams.logs.Read(task, offset_, kOutputPiece);
    if (!chunks) return Fail(chunks.error());
    for (const auto& chunk : *chunks) {
      // Bytes that were proven once and are not there now are gone.
      gone_ = gone_ || chunk.offset > offset_;
      offset_ = chunk.offset + chunk.data.size();
      Spend(chunk.data.size() + 100);
      if (!request_.only || chunk.stream == *request_.only) PutChunk(chunk);
    }
    if (!chunks->empty()) return true;
    PutEnd();
    current_.reset();
    return true;
  }

  void PutChunk(const LogChunk& chunk) {
    json::object line{{"host", current_->host},
                      {"attempt", current_->record.key.attempt.value},
                      {"stream", Name(chunk.stream)},
                      {"time", TimeView(chunk.time)},
                      {"offset", chunk.offset}};
    if (IsUtf8(chunk.data))
      line["text"] = chunk.data;
    else
      line["text_base64"] = ToBase64(chunk.data);
    Put(line);
    bytes_ += chunk.data.size();
  }

  // The last line of a host.
  void PutEnd() {
    const TaskRecord& record = current_->record;
    const LogLoss loss = LossOf(record, services_.keeper.KeptLogs());
    const bool whole =
        record.log.state == LogState::kComplete || record.log.state == LogState::kCut;
    const bool expired = loss != LogLoss::kNone || (whole && (gone_ || offset_ < record.log.bytes));
    gone_ = false;
    Put(json::object{{"host", current_->host},
                     {"attempt", record.key.attempt.value},
                     {"end", true},
                     {"state", Name(expired ? LogState::kExpired : record.log.state)},
                     {"missing", LossView(loss)},
                     {"bytes", offset_}});
    ++hosts_;
  }

  OutputServices& services_;
  const OutputRequest request_;
  std::optional<std::uint32_t> from_ = 0;  // of the next page; nothing: there is none
  std::deque<Output> page_;
  std::optional<Output> current_;
  std::uint64_t offset_ = 0;
  bool gone_ = false;
  std::uint64_t hosts_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<OutputRequest> ReadRequest(OutputServices& services, const Call& call) {
  const auto id = ParseRunId(call.Part("id"));
  if (!id) return Fail(id.error());
  OutputRequest request{.choice = {.run = *id, .stage = call.Query("stage")}, .only = {}};
  const auto& stream = call.Query("stream");
  if (stream == "stdout")
    request.only = Stream::kStdout;
  else if (stream == "stderr")
    request.only = Stream::kStderr;
  else if (!stream.empty() && stream != "both")
    return Fail(ErrorCode::kInvalid, "stream: expected both, stdout or stderr");
  // Told before the stream begins.
  const auto known = services.results.RowsOf(request.choice, {.limit = 1});
  if (!known) return Fail(known.error());
  return request;
}

void Show(OutputServices& services, const CallPtr& call) {
  auto request = ReadRequest(services, *call);
  if (!request) return call->Fail(request.error());
  auto place = services.streams.TakePlace(call, "streams of output");
  if (!place) return;
  std::make_shared<Outputs>(services, *call, std::move(*request), std::move(place))->Begin();
}

}  // namespace

std::vector<Route> OutputRoutes(OutputServices& services) {
  return {
      {"GET", "/api/v1/runs/{id}/outputs", Privilege::kView,
       [&services](const CallPtr& call) { Show(services, call); }},
  };
}

}  // namespace muster::server::api
