#pragma once

#include <string>

#include "domain/channel.hpp"
#include "domain/ids.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

// The mail as it goes over the wire: headers, a blank line, the text in base64; lines end in CR LF.
// The Message-ID follows from the task without its attempt, so that a repeat can be told by it.
std::string MailText(const TaskKey& task, const ChannelMessage& message, const MailChannel& mail,
                     WallTime now);

// A header's value: as it is when it is plain ASCII, else encoded (RFC 2047). Line ends become
// blanks.
std::string HeaderText(std::string_view text);

}  // namespace muster::outside
