#pragma once

#include "base/result.hpp"
#include "link/frame_bounds.hpp"
#include "link/messages.hpp"

namespace muster::server {

// How much a node may say at once. The codec has checked the form; this is about size, so that a
// node gone bad costs the server no more than a bounded amount of memory, rows and log. All are far
// above what an agent says.
using link::kMostFacts;
using link::kMostFeatures;
using link::kMostHeldTasks;
using link::kMostReports;
constexpr std::size_t kMostFactBytes = 1'024;  // of a name or a value
constexpr std::size_t kMostWordBytes = 256;    // version, store, boot, a feature

// kInvalid says what is too much; the link is closed then. Control characters in what people will
// read (facts, versions, reasons) become spaces: they are shown on terminals. A long reason is cut:
// an operator's words can be part of it, and must not close the link.
Result<> CheckFrame(link::NodeFrame& frame);

}  // namespace muster::server
