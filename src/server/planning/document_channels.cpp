#include "server/planning/document_channels.hpp"

#include "documents/kinds/channel.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/known_names.hpp"

namespace muster::server {

Result<Channel> DocumentChannels::Find(std::string_view name) {
  const auto kept = store_.FindDocument("channel", name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept)
    return Fail(ErrorCode::kNotFound,
                "there is no channel '{}'{}; make it with 'muster apply -f FILE'", name,
                DidYouMean(store_, "channel", name));
  const auto document = ReadKept(**kept);
  if (!document) return Fail(document.error());
  const auto* channel = std::get_if<documents::ChannelDocument>(&document->body);
  if (channel == nullptr) return Fail(ErrorCode::kInternal, "'{}' is kept as a channel", name);
  return documents::ChannelOf(*channel);
}

}  // namespace muster::server
