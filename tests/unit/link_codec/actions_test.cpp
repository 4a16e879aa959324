#include "link.pb.h"
#include <gtest/gtest.h>

#include "link/codec/codec.hpp"

namespace muster::link {
namespace {

TEST(CodecActions, PushesRoundTrip) {
  Command command;
  command.push = std::make_shared<const FilePush>(
      FilePush{.files = {{.path = "", .sha256 = "", .size = 0, .mode = 0755, .folder = true},
                         {.path = "b\xff\n", .sha256 = std::string(32, 'h'), .size = 1ULL << 40}},
               .tree = true,
               .content = "",
               .to = "/srv/",
               .name = "app",
               .mode = 0,
               .owner = "web:www",
               .rate = 5});
  command.secrets = {{.variable = "TOKEN", .secret = "db"}};
  const auto decoded = DecodeCommand(EncodeCommand(command));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, command);
}

TEST(CodecActions, ContentPullsAndRebootsRoundTrip) {
  Command content;
  content.push = std::make_shared<const FilePush>(FilePush{.content = "\xff text", .to = "/a"});
  Command pull;
  pull.pull = std::make_shared<const FilePull>(
      FilePull{.paths = {"/var/log/*", "/a\xff"}, .max_bytes = 7, .rate = 1 << 20});
  Command reboot;
  reboot.reboot = std::make_shared<const Reboot>(Reboot{.argv = {"systemctl", "reboot"}});
  Command plain_reboot;
  plain_reboot.reboot = std::make_shared<const Reboot>();
  for (const auto& command : {content, pull, reboot, plain_reboot}) {
    const auto decoded = DecodeCommand(EncodeCommand(command));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, command);
  }
}

TEST(CodecActions, RefusesWhatNoServerSends) {
  const auto code = [](const v1::Command& wire) {
    const auto decoded = DecodeCommand(wire.SerializeAsString());
    return decoded ? std::optional<ErrorCode>() : decoded.error().code;
  };
  v1::Command short_hash;
  short_hash.mutable_push()->add_files()->set_sha256("short");
  EXPECT_EQ(code(short_hash), ErrorCode::kInvalid);
  v1::Command strange_mode;
  strange_mode.mutable_push()->set_mode(0100644);
  EXPECT_EQ(code(strange_mode), ErrorCode::kInvalid);
  v1::Command both;
  both.mutable_push();
  both.mutable_pull();
  EXPECT_EQ(code(both), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::link
