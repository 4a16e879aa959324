#pragma once

#include <string>

#include "cli/terminal/shown_text.hpp"

namespace muster::cli {

// The command that shows long texts: $MUSTER_PAGER, else $PAGER, else `less -FRX` if
// it is installed. "" when there is none: both may be set to "" or `cat`, and a terminal without
// TERM, or with TERM=dumb, cannot show one.
std::string PagerCommand();

enum class PagerEnd {
  kShown,        // to the end, or until the reader left
  kInterrupted,  // by Ctrl-C
  kNotStarted,   // nothing was shown
};

// Shows `text` and waits until the reader leaves. Ctrl-C belongs to the pager meanwhile. The pager
// gets no token, and LESSSECURE=1: from `less`, no shell, editor or file can be reached. Call it
// while this process has no other child.
PagerEnd ShowInPager(const std::string& command, const ShownText& text);

}  // namespace muster::cli
