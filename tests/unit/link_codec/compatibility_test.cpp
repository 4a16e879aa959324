// Frames as an earlier release wrote them (tests/data/link/VERSION): this one must read them as
// they were meant, and must write what the earlier one's reader expects. They are never recorded
// anew; a new release adds a folder. MUSTER_RECORD_LINK=DIR writes this tree's frames there.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/link_codec/recorded_frames.hpp"

namespace muster::link {
namespace {

namespace fs = std::filesystem;

const fs::path kFrames = fs::path(MUSTER_TEST_DATA) / "link/0.1";

std::string Load(const std::string& name) {
  std::ifstream file(kFrames / (name + ".bin"), std::ios::binary);
  EXPECT_TRUE(file) << kFrames / (name + ".bin");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// --- protobuf's wire format, read without any schema ---

struct Field {
  std::uint64_t tag = 0;  // number and wire type
  std::string value;
};

std::optional<std::uint64_t> Varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::vector<Field>> Fields(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const auto tag = Varint(bytes);
    if (!tag || *tag < 8) return std::nullopt;
    if ((*tag & 7) == 0) {
      const auto value = Varint(bytes);
      if (!value) return std::nullopt;
      fields.push_back({*tag, std::to_string(*value)});
    } else if ((*tag & 7) == 2) {
      const auto size = Varint(bytes);
      if (!size || *size > bytes.size()) return std::nullopt;
      fields.push_back({*tag, std::string(bytes.substr(0, *size))});
      bytes.remove_prefix(*size);
    } else {
      return std::nullopt;  // the protocol uses no other
    }
  }
  return fields;
}

// Whether `now` has every field of `then`, of the same number, type and value and in the same order
// among equals, whatever it has besides: what a reader that knows only `then`'s fields would see.
bool Covers(std::string_view now, std::string_view then) {
  if (now == then) return true;
  const auto new_fields = Fields(now);
  const auto old_fields = Fields(then);
  if (!new_fields || !old_fields) return false;
  std::size_t at = 0;
  for (const auto& old : *old_fields) {
    const auto fits = [&](const Field& field) {
      return field.tag == old.tag &&
             (field.value == old.value || ((old.tag & 7) == 2 && Covers(field.value, old.value)));
    };
    while (at < new_fields->size() && !fits((*new_fields)[at])) ++at;
    if (at++ == new_fields->size()) return false;
  }
  return true;
}

// A field that no release has yet, behind whatever is there.
std::string WithUnknown(std::string bytes) {
  return bytes + std::string("\xc2\x3e\x03new", 6) + std::string("\xc8\x3e\x05", 3);
}

void ExpectSame(const ServerFrame& a, const ServerFrame& b) {
  EXPECT_EQ(a.say_hello, b.say_hello);
  EXPECT_EQ(a.welcome, b.welcome);
  EXPECT_EQ(a.refusal, b.refusal);
  EXPECT_EQ(a.beat, b.beat);
  EXPECT_EQ(a.kills, b.kills);
  EXPECT_EQ(a.log_acks, b.log_acks);
  EXPECT_EQ(a.forgets, b.forgets);
  ASSERT_EQ(a.orders.size(), b.orders.size());
  for (std::size_t i = 0; i < a.orders.size(); ++i) {
    EXPECT_EQ(EncodeOrder(a.orders[i]), EncodeOrder(b.orders[i]));
    EXPECT_EQ(*a.orders[i].command, *b.orders[i].command);
  }
}

TEST(LinkCompatibility, ReadsWhatAnAgentOf01Says) {
  for (const auto& [name, expected] : recorded::NodeFrames()) {
    SCOPED_TRACE(name);
    const auto frame = DecodeNodeFrame(Load(name));
    ASSERT_TRUE(frame) << frame.error().message;
    EXPECT_EQ(*frame, expected);
  }
}

TEST(LinkCompatibility, ReadsWhatAServerOf01Says) {
  for (const auto& [name, expected] : recorded::ServerFrames()) {
    SCOPED_TRACE(name);
    const auto frame = DecodeServerFrame(Load(name));
    ASSERT_TRUE(frame) << frame.error().message;
    ExpectSame(*frame, expected);
  }
}

TEST(LinkCompatibility, WritesWhatAServerOf01Reads) {
  for (const auto& [name, meant] : recorded::NodeFrames())
    EXPECT_TRUE(Covers(Encode(meant), Load(name))) << name;
}

TEST(LinkCompatibility, WritesWhatAnAgentOf01Reads) {
  for (const auto& [name, meant] : recorded::ServerFrames())
    EXPECT_TRUE(Covers(ServerFrameEncoder().Encode(meant), Load(name))) << name;
}

// An agent is upgraded while tasks run: it finds what its forerunner wrote into their folders.
TEST(LinkCompatibility, ReadsTheTaskFoldersOf01) {
  const auto order = DecodeOrder(Load("folder-order"));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(EncodeOrder(*order), EncodeOrder(recorded::TheOrder()));
  EXPECT_EQ(DecodeTaskEnd(Load("folder-end")), recorded::End());
  const auto kept = DecodeKeptEnd(Load("folder-end"));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->end, recorded::End());
  EXPECT_FALSE(kept->task);
}

TEST(LinkCompatibility, IgnoresFieldsOfALaterRelease) {
  for (const auto& [name, expected] : recorded::NodeFrames()) {
    const auto frame = DecodeNodeFrame(WithUnknown(Load(name)));
    ASSERT_TRUE(frame) << name;
    EXPECT_EQ(*frame, expected);
  }
  for (const auto& [name, expected] : recorded::ServerFrames()) {
    const auto frame = DecodeServerFrame(WithUnknown(Load(name)));
    ASSERT_TRUE(frame) << name;
    ExpectSame(*frame, expected);
  }
  EXPECT_EQ(DecodeCommand(WithUnknown(EncodeCommand(recorded::TheCommand()))),
            recorded::TheCommand());
}

TEST(Covers, SeesAMissingAndAChangedField) {
  NodeFrame frame{.session = 41};
  frame.beat = Beat{.sent_at = 5, .running = 2};
  const std::string then = Encode(frame);
  EXPECT_TRUE(Covers(WithUnknown(then), then));
  frame.beat->running = 3;
  EXPECT_FALSE(Covers(Encode(frame), then));
  frame.beat.reset();
  EXPECT_FALSE(Covers(Encode(frame), then));
}

TEST(LinkCompatibility, RecordsThisReleaseWhenAsked) {
  const char* folder = std::getenv("MUSTER_RECORD_LINK");
  if (folder == nullptr) return;
  const auto save = [&](const std::string& name, const std::string& bytes) {
    std::ofstream file(fs::path(folder) / (name + ".bin"), std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush());
  };
  for (const auto& [name, frame] : recorded::NodeFrames()) save(name, Encode(frame));
  for (const auto& [name, frame] : recorded::ServerFrames())
    save(name, ServerFrameEncoder().Encode(frame));
  save("folder-order", EncodeOrder(recorded::TheOrder()));
  save("folder-end", EncodeTaskEnd(recorded::End()));
}

}  // namespace
}  // namespace muster::link
