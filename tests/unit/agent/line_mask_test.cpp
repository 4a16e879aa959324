#include "agent/shim/line_mask.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agent/shim/masked_hash.hpp"

namespace muster::agent {
namespace {

const LineMask kMask({.hosts = {"web-1.sh1.example", "ip-10-0-0-7"}, .run = "r12"});

std::string Masked(std::string_view line) {
  std::string out;
  kMask.Mask(line, out);
  return out;
}

struct Case {
  std::string_view line;
  std::string_view masked;
};

void ExpectMasked(std::initializer_list<Case> cases) {
  for (const auto& [line, masked] : cases) EXPECT_EQ(Masked(line), masked) << line;
}

void ExpectUntouched(std::initializer_list<std::string_view> lines) {
  for (const auto line : lines) EXPECT_EQ(Masked(line), line);
}

TEST(LineMask, LeavesOrdinaryTextAlone) {
  ExpectUntouched({"", "\n", "all is well", "  indented\twith tabs\n", "99 of 100 (99%)", "3.14",
                   "a.b.c", "std::string", "x::y", "key: value", "[ OK ]", "-1", "50%", "\xff\xfe",
                   "päth"});
}

TEST(LineMask, ReplacesTheHostsNames) {
  ExpectMasked({{"web-1.sh1.example", "<host>"},
                {"web-1", "<host>"},
                {"on web-1: up", "on <host>: up"},
                {"WEB-1.Sh1.EXAMPLE and Web-1", "<host> and <host>"},
                {"root@web-1:/#", "root@<host>:/#"},
                {"web-1.other.example", "<host>.other.example"},
                {"/var/web-1/web-1.log", "/var/<host>/<host>.log"},
                {"ip-10-0-0-7", "<host>"},
                {"web-1\n", "<host>\n"}});
}

TEST(LineMask, NameMustBeAWholeWord) {
  ExpectUntouched({"web-10", "web-1a", "xweb-1", "my-web-1", "web-1-old", "web-1_x", "_web-1",
                   "web", "web-", "ip-10-0-0-70"});
}

TEST(LineMask, ShortNamesAndNumbersAreNoNames) {
  const LineMask mask({.hosts = {"a", "10.0.0.5", "", "b.example"}, .run = ""});
  std::string out;
  mask.Mask("a has 10 of 10.0.0.5 in b and b.example", out);
  EXPECT_EQ(out, "a has 10 of <ip> in b and <host>");
}

TEST(LineMask, ReplacesTheRun) {
  ExpectMasked({{"run r12 ended", "run <run> ended"}, {"/tmp/r12/x", "/tmp/<run>/x"}});
  ExpectUntouched({"r1", "r123", "xr12"});
}

TEST(LineMask, ReplacesIpv4) {
  ExpectMasked({{"10.0.0.1", "<ip>"},
                {"inet 192.168.255.255/24", "inet <ip>/24"},
                {"10.0.0.1:8080", "<ip>:8080"},
                {"(1.2.3.4)", "(<ip>)"},
                {"to 1.2.3.4.", "to <ip>."},
                {"http://127.0.0.1/", "http://<ip>/"},
                {"1.2.3.4,5.6.7.8", "<ip>,<ip>"}});
  ExpectUntouched({"1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.4x", "v1.2.3.4", "1234.1.1.1",
                   "1..2.3", "1.2.3.", "x.1.2.3.4"});
}

TEST(LineMask, ReplacesIpv6AndHardwareAddresses) {
  ExpectMasked({{"fe80::1", "<ip>"},
                {"::1", "<ip>"},
                {"[::1]:80", "[<ip>]:80"},
                {"2001:db8:0:0:0:0:0:1", "<ip>"},
                {"2001:DB8::a:b/64", "<ip>/64"},
                {"fe80::5054:ff:fe12:3456%eth0", "<ip>%eth0"},
                {"::ffff:10.0.0.1", "<ip>"},
                {"64:ff9b::1.2.3.4 up", "<ip> up"},
                {"from fe80::1: refused", "from <ip>: refused"},
                {"fe80::", "<ip>"},
                {"ether 52:54:00:ab:cd:ef brd", "ether <ip> brd"}});
  ExpectUntouched({"::", "1:2:3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "fe80::1::2", "fe80::12345",
                   "fe80::1g", "Face::Book", "a:b", "52:54:00:ab:cd", "52:54:00:ab:cd:ef:01"});
}

TEST(LineMask, ReplacesTimes) {
  ExpectMasked({{"2026-01-31", "<time>"},
                {"2026-01-31T10:15:00Z", "<time>"},
                {"2026-01-31t10:15:00.123456789z", "<time>"},
                {"2026-01-31T10:15:00+02:00", "<time>"},
                {"2026-01-31T10:15:00-0530 x", "<time> x"},
                {"2026-01-31 10:15:00,123 INFO", "<time> INFO"},
                {"2026-01-31 10:15:00 +0200", "<time>"},
                {"2026-01-31 10:15", "<time>"},
                {"2026-01-31_10:15:00", "<time>"},
                {"2026-01-31 ok", "<time> ok"},
                {"log-2026-01-31.gz", "log-<time>.gz"},
                {"20260131T101500Z", "<time>"},
                {"20260131T1015", "<time>"},
                {"20260131T101500.5+0100", "<time>"},
                {"Jan 31 10:15:00 kernel", "Jan 31 <time> kernel"},
                {"10:15:00", "<time>"},
                {"10:15:00.5", "<time>"},
                {"at 10:15:00.", "at <time>."},
                {"10:15:00-10:16:00", "<time>-<time>"},
                {"1-02:03:04", "1-<time>"},
                {"[23:59:60]", "[<time>]"}});
  ExpectUntouched({"10:15", "25:00:00", "10:60:00", "10:15:61", "10:15:00:00", "10:15:00x",
                   "2026-13-01", "2026-00-10", "2026-01-32", "2026-01-310", "9026-01-31",
                   "2026-1-31", "20260131", "20261331T101500Z", "20260131T101500Q",
                   "2026-01-31Tomorrow"});
}

TEST(LineMask, ReplacesProcessNumbers) {
  ExpectMasked({{"sshd[812]: hi", "sshd[<pid>]: hi"},
                {"[1] 4711", "[<pid>] 4711"},
                {"pid 4711", "pid <pid>"},
                {"PID: 4711, ok", "PID: <pid>, ok"},
                {"pid=4711", "pid=<pid>"},
                {R"({"pid":4711})", R"({"pid":<pid>})"},
                {R"({"pid": 4711})", R"({"pid": <pid>})"},
                {"ppid=1", "ppid=<pid>"},
                {"MainPID=812", "MainPID=<pid>"},
                {"main_pid 812", "main_pid <pid>"},
                {"pid file", "pid file"}});
  ExpectUntouched(
      {"rapid 5", "pids 5", "pid is 5", "pid 5x", "a[i]", "[1 2]", "[12", "stupid 7", "pid, 5"});
}

TEST(LineMask, ReplacesHexNumbers) {
  ExpectMasked({{"0x7ffe12AB", "<0x>"}, {"at 0X1f.", "at <0x>."}});
  ExpectUntouched({"0x", "0xg", "10x1", "x0x1", "0x1_"});
}

TEST(LineMask, NothingIsLostOrAddedAtTheEdges) {
  std::string out = "kept ";
  kMask.Mask("10.0.0.1 x fe80::1", out);
  EXPECT_EQ(out, "kept <ip> x <ip>");
}

RC_GTEST_PROP(LineMask, TextWithoutAnythingToMaskComesBack, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("gh k-./=\n")));
  RC_ASSERT(Masked(text) == text);
}

RC_GTEST_PROP(LineMask, AnyBytesAreTaken, ()) {
  const auto alphabet = std::string("01259aefxTZ:.-[] pidwb\xff\n,+_");
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
  const std::string once = Masked(text);
  RC_ASSERT(Masked(text) == once);
}

RC_GTEST_PROP(MaskedHash, DoesNotDependOnThePieces, ()) {
  auto line = rc::gen::elementOf(std::vector<std::string>{
      "10.0.0.1\n", "plain\n", "\n", "web-1 ", "2026-01-31T10:15:00Z\n", std::string(5000, 'x'),
      std::string(4096, 'y') + "\n", std::string(4090, 'z') + " 10.0.0.1\n"});
  std::string text;
  for (const auto& part : *rc::gen::container<std::vector<std::string>>(line)) text += part;
  MaskedHash whole(kMask);
  whole.Add(text);
  MaskedHash pieces(kMask);
  for (std::size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 3000);
    pieces.Add(std::string_view(text).substr(at, size));
    at += size;
  }
  RC_ASSERT(whole.Digest() == pieces.Digest());
}

TEST(MaskedHash, IsTheSameForHostsThatSayTheSame) {
  const LineMask other({.hosts = {"db7"}, .run = "r12"});
  MaskedHash a(kMask);
  MaskedHash b(other);
  a.Add("web-1 10.0.0.1 up since 10:15:00\nok");
  b.Add("db7 10.0.0.22 up since 11:00:59\nok");
  EXPECT_EQ(a.Digest(), b.Digest());
  b.Add("!");
  EXPECT_NE(a.Digest(), b.Digest());
}

TEST(MaskedHash, IsOfBothStreamsInTheirOrder) {
  MaskedHash a(kMask);
  MaskedHash b(kMask);
  b.Add("x");
  EXPECT_EQ(JoinMasked(a, b).size(), 32U);
  EXPECT_NE(JoinMasked(a, b), JoinMasked(b, a));
}

}  // namespace
}  // namespace muster::agent
