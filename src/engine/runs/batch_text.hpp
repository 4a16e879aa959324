#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::engine {

// Why a stage ended at a batch, as WhyBatchEnds says it, with the batch's number from 1 and perhaps
// its stage: "1 host failed in batch 2 of stage roll; 0 are tolerated". "" stays "".
std::string InBatch(std::string why, std::uint32_t number, std::string_view stage = {});

}  // namespace muster::engine
