#include "link/codec/frame_shape.hpp"

#include "link.pb.h"
#include <gtest/gtest.h>

#include "domain/outputs.hpp"
#include "link/codec/codec.hpp"
#include "link/frame_bounds.hpp"

namespace muster::link {
namespace {

namespace wire = muster::link::v1;

bool Refused(const wire::NodeFrame& frame) {
  const auto shape = MeasureNodeFrame(frame.SerializeAsString());
  return !shape && shape.error().code == ErrorCode::kInvalid;
}

TEST(FrameShape, CountsWhatAFrameHolds) {
  wire::NodeFrame frame;
  auto* hello = frame.mutable_hello();
  hello->set_version("1");
  hello->add_features("a");
  for (int i = 0; i < 2; ++i) hello->add_facts()->set_key("k");
  for (int i = 0; i < 3; ++i) hello->add_tasks()->mutable_task()->set_run(1);
  for (int i = 0; i < 4; ++i) frame.add_reports()->mutable_end()->add_outputs()->set_key("o");
  for (int i = 0; i < 5; ++i) frame.add_chunks()->set_data("x");
  const auto shape = MeasureNodeFrame(frame.SerializeAsString());
  ASSERT_TRUE(shape);
  EXPECT_TRUE(shape->hello);
  EXPECT_EQ(shape->features, 1U);
  EXPECT_EQ(shape->facts, 2U);
  EXPECT_EQ(shape->tasks, 3U);
  EXPECT_EQ(shape->reports, 4U);
  EXPECT_EQ(shape->chunks, 5U);
  EXPECT_EQ(shape->fields, 1U + 1 + 1 + 2 * 2 + 3 * 3 + 4 * 4 + 5 * 2);
  EXPECT_FALSE(MeasureNodeFrame("")->hello);
}

TEST(FrameShape, IsRefusedPastItsBounds) {
  const auto some = [](std::size_t facts, std::size_t features, std::size_t tasks) {
    wire::NodeFrame frame;
    for (; facts > 0; --facts) frame.mutable_hello()->add_facts();
    for (; features > 0; --features) frame.mutable_hello()->add_features("");
    for (; tasks > 0; --tasks) frame.mutable_hello()->add_tasks();
    return frame;
  };
  EXPECT_FALSE(Refused(some(kMostFacts, kMostFeatures, kMostHeldTasks)));
  EXPECT_TRUE(Refused(some(kMostFacts + 1, 0, 0)));
  EXPECT_TRUE(Refused(some(0, kMostFeatures + 1, 0)));
  EXPECT_TRUE(Refused(some(0, 0, kMostHeldTasks + 1)));
  wire::NodeFrame frame;
  for (std::size_t i = 0; i < kMostReports; ++i) frame.add_reports();
  for (std::size_t i = 0; i < kMostChunks; ++i) frame.add_chunks()->set_data("x");
  EXPECT_FALSE(Refused(frame));
  wire::NodeFrame reports = frame;
  reports.add_reports();
  EXPECT_TRUE(Refused(reports));
  frame.add_chunks()->set_data("x");
  EXPECT_TRUE(Refused(frame));
}

TEST(FrameShape, IsRefusedWithTooManyOutputsOfOneTask) {
  wire::NodeFrame frame;
  for (int task = 0; task < 2; ++task)
    for (auto* end = frame.add_reports()->mutable_end();
         static_cast<std::size_t>(end->outputs_size()) < kMaxOutputs;)
      end->add_outputs();
  EXPECT_FALSE(Refused(frame));
  frame.mutable_reports(1)->mutable_end()->add_outputs();
  EXPECT_TRUE(Refused(frame));
  wire::NodeFrame held;
  *held.mutable_hello()->add_tasks()->mutable_end() = frame.reports(1).end();
  EXPECT_TRUE(Refused(held));
}

TEST(FrameShape, IsRefusedWithAPieceOfNoBytes) {
  wire::NodeFrame frame;
  frame.add_chunks()->set_data("x");
  EXPECT_FALSE(Refused(frame));
  frame.add_chunks()->mutable_task()->set_run(1);
  EXPECT_TRUE(Refused(frame));
  // Protobuf takes the last one.
  EXPECT_FALSE(MeasureNodeFrame(std::string_view("\x22\x05\x2a\x01x\x2a\x00", 7)));
}

TEST(FrameShape, UnknownFieldsCount) {
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += "\xa0\x06\x01";
  EXPECT_EQ(MeasureNodeFrame(bytes)->fields, 1'000U);
}

TEST(FrameShape, RefusesWhatIsNoMessage) {
  for (const std::string_view bytes :
       {std::string_view("\xff\xff\xff rubbish"), std::string_view("\x12\x05\x0a"),
        std::string_view("\x00\x01", 2), std::string_view("\x0b\x0c"), std::string_view("\x09zz"),
        std::string_view("\x08"), std::string_view("\x12\x02\x1a\x7f"),
        std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")})
    EXPECT_FALSE(MeasureNodeFrame(bytes));
}

// What protobuf reads, this reads too, and the other way round for what it looks into.
TEST(FrameShape, AgreesWithProtobufAboutDamagedFrames) {
  wire::NodeFrame frame;
  frame.mutable_hello()->add_facts()->set_key("os");
  frame.mutable_hello()->add_tasks()->mutable_task()->set_run(300);
  frame.add_chunks()->set_data("some output");
  frame.add_reports()->mutable_end()->mutable_log()->set_bytes(70'000);
  const std::string whole = frame.SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto bytes = std::string_view(whole).substr(0, size);
    wire::NodeFrame parsed;
    const bool taken = parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    EXPECT_EQ(MeasureNodeFrame(bytes).has_value(), taken) << size;
  }
}

}  // namespace
}  // namespace muster::link
