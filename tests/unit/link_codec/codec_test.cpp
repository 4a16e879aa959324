#include "link/codec/codec.hpp"

#include "link.pb.h"
#include <gtest/gtest.h>

#include "link/frame_bounds.hpp"
#include "support/random_values.hpp"

namespace muster::link {
namespace {

namespace wire = muster::link::v1;
constexpr std::uint64_t kSeeds = 300;

NodeFrame RandomNodeFrame(RandomValues& random) {
  NodeFrame frame;
  frame.session = random.Number(1ULL << 60);
  if (random.Coin()) {
    frame.hello = Hello{.version = random.Text(),
                        .features = random.Texts(),
                        .facts = random.SomeLabels(),
                        .store = random.Text(),
                        .boot = random.Text(),
                        .session = random.Number(1ULL << 60),
                        .highest_term = Term(random.Number(1ULL << 60)),
                        .tasks = {},
                        .sent_at = static_cast<std::int64_t>(random.Number(1ULL << 50)),
                        .has_others = random.Coin()};
    for (auto left = random.Number(4); left > 0; --left) {
      HeldTask held{
          .task = random.Key(), .state = static_cast<HeldState>(1 + random.Number(3)), .end = {}};
      if (held.state == HeldState::kEnded) held.end = random.End();
      frame.hello->tasks.push_back(std::move(held));
    }
  }
  if (random.Coin()) frame.beat = Beat{.sent_at = 5, .running = 7};
  for (auto left = random.Number(4); left > 0; --left)
    frame.chunks.push_back({.task = random.Key(),
                            .offset = random.Number(1ULL << 40),
                            .stream = random.Coin() ? Stream::kStdout : Stream::kStderr,
                            .time = random.Time(),
                            .data = random.Bytes(300)});
  for (auto left = random.Number(4); left > 0; --left) {
    Report report{.task = random.Key(),
                  .kind = static_cast<ReportKind>(1 + random.Number(4)),
                  .end = {},
                  .log = {}};
    if (report.kind == ReportKind::kEnded) report.end = random.End();
    if (report.kind == ReportKind::kLogEnded) report.log = random.Totals();
    frame.reports.push_back(std::move(report));
  }
  if (random.Coin()) frame.renew = random.Text();
  return frame;
}

ServerFrame RandomServerFrame(RandomValues& random) {
  ServerFrame frame;
  frame.say_hello = random.Coin();
  if (random.Coin()) {
    frame.welcome = Welcome{.cluster = random.Text(),
                            .term = Term(random.Number(1ULL << 60)),
                            .session = random.Number(1ULL << 60),
                            .host = HostId(random.Number(1ULL << 60)),
                            .host_name = random.Text(),
                            .server_time = static_cast<ServerTime>(random.Number(1ULL << 50)),
                            .echo = -static_cast<std::int64_t>(random.Number(1ULL << 50)),
                            .heartbeat = random.Span(),
                            .answers = {},
                            .servers = {}};
    for (auto left = random.Number(4); left > 0; --left)
      frame.welcome->servers.push_back("https://" + random.Text());
    for (auto left = random.Number(4); left > 0; --left)
      frame.welcome->answers.push_back(
          {.task = random.Key(),
           .verb = static_cast<Verb>(1 + random.Number(3)),
           .durable_offset = random.Number(1ULL << 40),
           .grace = random.Span(),
           .max_output = random.Coin() ? std::optional(random.Number(1ULL << 40)) : std::nullopt});
  }
  if (random.Coin()) frame.refusal = Refusal{.code = random.Text(), .message = random.Text()};
  if (random.Coin()) {
    frame.beat = BeatAnswer{.echo = 3, .server_time = 4};
    if (random.Coin()) frame.beat->servers.push_back("https://" + random.Text());
  }
  auto command = std::make_shared<const Command>(random.SomeCommand());
  for (auto left = random.Number(4); left > 0; --left) {
    if (random.Coin()) command = std::make_shared<const Command>(random.SomeCommand());
    frame.orders.push_back({.task = random.Key(),
                            .session = random.Number(1ULL << 60),
                            .term = Term(random.Number(1ULL << 60)),
                            .start_by = static_cast<ServerTime>(random.Number(1ULL << 50)),
                            .needs = random.Texts(),
                            .stage = random.Text(),
                            .host_name = random.Text(),
                            .command = command});
  }
  for (auto left = random.Number(4); left > 0; --left)
    frame.kills.push_back({.task = random.Key(), .grace = random.Span()});
  for (auto left = random.Number(4); left > 0; --left)
    frame.log_acks.push_back({.task = random.Key(), .offset = random.Number(1ULL << 40)});
  for (auto left = random.Number(4); left > 0; --left) frame.forgets.push_back(random.Key());
  if (random.Coin())
    frame.papers =
        Papers{.ca_pem = random.Text(), .signer = random.Text(), .cert_pem = random.Text()};
  if (random.Coin()) {
    frame.goodbye.emplace();
    for (auto left = random.Number(4); left > 0; --left)
      frame.goodbye->servers.push_back("https://" + random.Text());
  }
  return frame;
}

void ExpectSame(const Order& a, const Order& b) {
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.term, b.term);
  EXPECT_EQ(a.start_by, b.start_by);
  EXPECT_EQ(a.needs, b.needs);
  EXPECT_EQ(a.stage, b.stage);
  EXPECT_EQ(a.host_name, b.host_name);
  EXPECT_EQ(*a.command, *b.command);
}

TEST(Codec, NodeFramesRoundTrip) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const NodeFrame frame = RandomNodeFrame(random);
    const auto again = DecodeNodeFrame(Encode(frame));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, frame);
  }
}

TEST(Codec, ServerFramesRoundTripThroughOneEncoder) {
  ServerFrameEncoder encoder;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const ServerFrame frame = RandomServerFrame(random);
    const auto again = DecodeServerFrame(encoder.Encode(frame));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->say_hello, frame.say_hello);
    EXPECT_EQ(again->welcome, frame.welcome);
    EXPECT_EQ(again->refusal, frame.refusal);
    EXPECT_EQ(again->beat, frame.beat);
    EXPECT_EQ(again->kills, frame.kills);
    EXPECT_EQ(again->log_acks, frame.log_acks);
    EXPECT_EQ(again->forgets, frame.forgets);
    EXPECT_EQ(again->papers, frame.papers);
    EXPECT_EQ(again->goodbye, frame.goodbye);
    ASSERT_EQ(again->orders.size(), frame.orders.size());
    for (std::size_t i = 0; i < frame.orders.size(); ++i)
      ExpectSame(again->orders[i], frame.orders[i]);
  }
}

TEST(Codec, OrdersCommandsAndEndsRoundTripAlone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Command command = random.SomeCommand();
    EXPECT_EQ(DecodeCommand(EncodeCommand(command)), command);
    const TaskEnd end = random.End();
    EXPECT_EQ(DecodeTaskEnd(EncodeTaskEnd(end)), end);
    const Order order{.task = random.Key(),
                      .session = 1,
                      .term = Term(2),
                      .start_by = 3,
                      .needs = random.Texts(),
                      .stage = random.Text(),
                      .host_name = random.Text(),
                      .command = std::make_shared<const Command>(command)};
    const auto again = DecodeOrder(EncodeOrder(order));
    ASSERT_TRUE(again);
    ExpectSame(*again, order);
  }
}

TEST(Codec, OrdersOfOneRunShareTheirCommand) {
  ServerFrame frame;
  const auto command = std::make_shared<const Command>(Command{.argv = {"true"}});
  frame.orders.resize(3);
  for (auto& order : frame.orders) order.command = command;
  const auto again = DecodeServerFrame(ServerFrameEncoder().Encode(frame));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->orders[0].command, again->orders[2].command);
}

TEST(Codec, SilentStreamsCostNoBytes) {
  TaskEnd end{.state = TaskState::kSucceeded};
  end.log = LogTotals{.stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
  const std::string bytes = EncodeTaskEnd(end);
  EXPECT_LT(bytes.size(), 8U);
  EXPECT_EQ(DecodeTaskEnd(bytes), end);
}

TEST(Codec, WordsThatAreNotUtf8LeaveAsUtf8) {
  TaskEnd end{.state = TaskState::kRefused};
  end.reason = "user 'w\xff\xc3\xa4' \xe2\x86";
  const auto again = DecodeTaskEnd(EncodeTaskEnd(end));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->reason, "user 'w?\xc3\xa4' ??");
}

TEST(CodecDecode, RefusesTextThatIsNotUtf8) {
  // Hello.version (field 1 of field 2) of one byte 0xff.
  EXPECT_EQ(DecodeNodeFrame(std::string_view("\x12\x03\x0a\x01\xff", 5)).error().code,
            ErrorCode::kInvalid);
}

void ExpectRefused(const wire::NodeFrame& frame) {
  const auto decoded = DecodeNodeFrame(frame.SerializeAsString());
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kInvalid);
}

TEST(CodecDecode, RefusesCertificateRequestsThatAreTooLong) {
  NodeFrame frame;
  frame.renew = std::string(kMaxRequestBytes, 'x');
  EXPECT_TRUE(DecodeNodeFrame(Encode(frame)));
  frame.renew += "x";
  EXPECT_EQ(DecodeNodeFrame(Encode(frame)).error().code, ErrorCode::kInvalid);
}

TEST(CodecDecode, RefusesMoreThanAFrameMayHold) {
  wire::NodeFrame facts;
  for (std::size_t i = 0; i <= kMostFacts; ++i) facts.mutable_hello()->add_facts();
  ExpectRefused(facts);
  wire::NodeFrame features;
  for (std::size_t i = 0; i <= kMostFeatures; ++i) features.mutable_hello()->add_features("");
  ExpectRefused(features);
  NodeFrame pieces;
  pieces.chunks.assign(kMostChunks, {.stream = Stream::kStdout, .data = "x"});
  EXPECT_TRUE(DecodeNodeFrame(Encode(pieces)));
  pieces.chunks.push_back(pieces.chunks.front());
  EXPECT_EQ(DecodeNodeFrame(Encode(pieces)).error().code, ErrorCode::kInvalid);
}

TEST(CodecDecode, RefusesUnknownStreams) {
  for (const std::uint32_t stream : {0U, 3U, 257U}) {
    wire::NodeFrame frame;
    frame.add_chunks()->mutable_task();
    frame.mutable_chunks(0)->set_stream(stream);
    ExpectRefused(frame);
  }
}

TEST(CodecDecode, RefusesOffsetsThatCouldWrap) {
  wire::NodeFrame frame;
  frame.add_chunks()->mutable_task();
  frame.mutable_chunks(0)->set_stream(1);
  frame.mutable_chunks(0)->set_offset(UINT64_MAX - 1);
  ExpectRefused(frame);
}

TEST(CodecDecode, RefusesStatesATaskCannotEndIn) {
  for (const std::uint32_t state : {0U, 1U, 2U, 3U, 9U, 12U, 260U, 4'000'000'000U}) {
    wire::NodeFrame frame;
    auto* report = frame.add_reports();
    report->mutable_task();
    report->set_kind(3);
    report->mutable_end()->set_state(state);
    ExpectRefused(frame);
  }
}

TEST(CodecDecode, RefusesReportsThatLackWhatTheyReport) {
  for (const std::uint32_t kind : {0U, 3U, 4U, 5U}) {
    wire::NodeFrame frame;
    auto* report = frame.add_reports();
    report->mutable_task();
    report->set_kind(kind);
    ExpectRefused(frame);
  }
  wire::NodeFrame no_task;
  no_task.add_reports()->set_kind(1);
  ExpectRefused(no_task);
}

TEST(CodecDecode, RefusesHashesOfAnotherLength) {
  wire::NodeFrame frame;
  auto* report = frame.add_reports();
  report->mutable_task();
  report->set_kind(4);
  report->mutable_log()->set_stdout_sha256("short");
  ExpectRefused(frame);
}

TEST(CodecDecode, RefusesHeldTasksInUnknownStates) {
  wire::NodeFrame frame;
  auto* held = frame.mutable_hello()->add_tasks();
  held->mutable_task();
  for (const std::uint32_t state : {0U, 3U, 4U, 258U}) {
    held->set_state(state);  // 3 says ended and does not say how
    ExpectRefused(frame);
  }
}

TEST(CodecDecode, RefusesVerbsAndDurationsOutOfRange) {
  wire::ServerFrame frame;
  auto* answer = frame.mutable_welcome()->add_answers();
  answer->mutable_task();
  answer->set_verb(4);
  EXPECT_EQ(DecodeServerFrame(frame.SerializeAsString()).error().code, ErrorCode::kInvalid);
  answer->set_verb(2);
  EXPECT_TRUE(DecodeServerFrame(frame.SerializeAsString()));
  answer->set_grace_ms(-1);
  EXPECT_EQ(DecodeServerFrame(frame.SerializeAsString()).error().code, ErrorCode::kInvalid);
}

TEST(CodecDecode, RefusesListsOfServersThatNoClusterHas) {
  ServerFrameEncoder encoder;
  for (const std::vector<std::string>& servers :
       {std::vector<std::string>(257, "https://a"), {""}, {std::string(1025, 'x')}}) {
    ServerFrame frame;
    frame.goodbye = Goodbye{servers};
    EXPECT_FALSE(DecodeServerFrame(encoder.Encode(frame)));
    frame.goodbye.reset();
    frame.beat = BeatAnswer{.servers = servers};
    EXPECT_FALSE(DecodeServerFrame(encoder.Encode(frame)));
    frame.beat.reset();
    frame.welcome.emplace();
    frame.welcome->servers = servers;
    EXPECT_FALSE(DecodeServerFrame(encoder.Encode(frame)));
  }
}

TEST(CodecDecode, RefusesFramesThatAreTooLong) {
  wire::NodeFrame frame;
  frame.add_chunks()->mutable_task();
  frame.mutable_chunks(0)->set_stream(1);
  frame.mutable_chunks(0)->set_data(std::string(kMaxFrameBytes, 'x'));
  ExpectRefused(frame);
}

TEST(CodecDecode, SurvivesDamagedFrames) {
  ServerFrameEncoder encoder;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomValues random(seed);
    std::string node = Encode(RandomNodeFrame(random));
    std::string server = encoder.Encode(RandomServerFrame(random));
    for (std::string* bytes : {&node, &server}) {
      if (bytes->empty()) continue;
      for (int i = 0; i < 3; ++i)
        (*bytes)[random.Number(bytes->size())] = static_cast<char>(random.Number(256));
      bytes->resize(random.Number(bytes->size() + 1));
    }
    if (const auto frame = DecodeNodeFrame(node); frame) Encode(*frame);
    if (const auto frame = DecodeServerFrame(server); frame) encoder.Encode(*frame);
    (void)DecodeOrder(server);
  }
}

wire::TaskEnd WireEnd() {
  wire::TaskEnd end;
  end.set_state(4);
  return end;
}

Result<TaskEnd> Again(const wire::TaskEnd& end) { return DecodeTaskEnd(end.SerializeAsString()); }

TEST(Codec, OutputsAreBounded) {
  const auto add = [](wire::TaskEnd& end, const std::string& key, const std::string& value) {
    auto* pair = end.add_outputs();
    pair->set_key(key);
    pair->set_value(value);
  };
  auto end = WireEnd();
  for (int i = 0; i < 256; ++i) add(end, "n" + std::to_string(i), "v");
  EXPECT_TRUE(Again(end));
  add(end, "one_more", "v");
  EXPECT_FALSE(Again(end));
  end = WireEnd();
  add(end, "a", std::string((64 << 10) - 1, 'x'));
  EXPECT_TRUE(Again(end));
  add(end, "b", "");
  EXPECT_FALSE(Again(end));
  end = WireEnd();
  add(end, "not a name", "v");
  EXPECT_FALSE(Again(end));
}

TEST(Codec, MaskedHashIsWholeOrUnknown) {
  auto end = WireEnd();
  end.mutable_log();
  EXPECT_EQ(Again(end)->log->masked_sha256, "");
  end.mutable_log()->set_masked_sha256(std::string(32, 'm'));
  EXPECT_EQ(Again(end)->log->masked_sha256, std::string(32, 'm'));
  end.mutable_log()->set_masked_sha256("short");
  EXPECT_FALSE(Again(end));
}

}  // namespace
}  // namespace muster::link
