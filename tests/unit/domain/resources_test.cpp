#include "domain/resources.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Resources, NamesOnlyWhatIsLimited) {
  EXPECT_FALSE(Resources{}.Any());
  EXPECT_TRUE(LimitedOf({}).empty());
  const Resources some{.memory = 1 << 20, .processes = 3};
  EXPECT_TRUE(some.Any());
  EXPECT_EQ(LimitedOf(some), (std::vector{Resource::kMemory, Resource::kProcesses}));
  EXPECT_EQ(Feature(Resource::kProcesses), "resources.processes");
}

TEST(Resources, RefusesLimitsNoProgramCouldLiveUnder) {
  EXPECT_TRUE(CheckResources({.memory = 512 << 20, .cpu = 1500, .processes = 100}));
  EXPECT_TRUE(CheckResources({}));
  EXPECT_EQ(CheckResources({.memory = 4096}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckResources({.memory = UINT64_MAX}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckResources({.cpu = 9}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckResources({.processes = UINT32_MAX}).error().code, ErrorCode::kInvalid);
}

TEST(Resources, CpuIsReadInThousandths) {
  EXPECT_EQ(*ParseCpu("1.5"), 1500U);
  EXPECT_EQ(*ParseCpu("2"), 2000U);
  EXPECT_EQ(*ParseCpu("0.29"), 290U);
  EXPECT_EQ(*ParseCpu("0.0001"), 1U);  // not 0, which means no limit
  for (const char* text : {"", "x", "-1", "1e3", "1.5 ", "nan", "inf", "1,5", "99999999"})
    EXPECT_FALSE(ParseCpu(text)) << text;
}

TEST(Resources, MemoryIsWrittenInTheLargestWholeUnit) {
  EXPECT_EQ(FormatMemory(512ULL << 20), "512 MiB");
  EXPECT_EQ(FormatMemory(1536ULL << 10), "1536 KiB");
  EXPECT_EQ(FormatMemory(2ULL << 30), "2 GiB");
  EXPECT_EQ(FormatMemory(1000), "1000 bytes");
}

}  // namespace
}  // namespace muster
