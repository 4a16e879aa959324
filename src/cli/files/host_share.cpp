#include "cli/files/host_share.hpp"

#include "base/text.hpp"

namespace muster::cli {

Result<> HostShare::Admit(const PulledLine& line) {
  const std::string path = EscapePath(line.path);
  if (!IsAskedFor(asked_, line.path))
    return Fail(ErrorCode::kDenied, "{}: was not asked for", path);
  if (paths_.contains(line.path))
    return Fail(ErrorCode::kDenied, "{}: is listed twice; only the first was taken", path);
  if (paths_.size() >= kMostPulledFiles)
    return Fail(ErrorCode::kDenied, "{}: would be more than the {} files that one host may send",
                path, kMostPulledFiles);
  if (line.size > max_bytes_ - bytes_)
    return Fail(ErrorCode::kDenied,
                "{}: {} would be more than the {} that one host may send (--max-size)", path,
                FormatSize(line.size), FormatSize(max_bytes_));
  bytes_ += line.size;
  paths_.insert(line.path);
  return {};
}

}  // namespace muster::cli
