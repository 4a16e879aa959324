#include "agent/daemon/history_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "agent/host/clocks.hpp"

namespace muster::agent {

Result<HistoryFile> HistoryFile::Open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0)
    return Fail(ErrorCode::kUnavailable, "history: cannot write {}: {}", path.string(),
                std::strerror(errno));
  return HistoryFile(fd);
}

HistoryFile::~HistoryFile() {
  if (fd_ >= 0) ::close(fd_);
}

void HistoryFile::Follow(link::Node& node, std::string host, std::string store) {
  node.Observe(
      [this, &node, host = std::move(host), store = std::move(store)](const link::Moment& moment) {
        Write(link::JournalLine({.host = host,
                                 .store = store,
                                 .wall = WallNow(),
                                 .server_now = node.ServerNow(BootNow().ms)},
                                moment));
      });
}

void HistoryFile::Write(const std::string& line) const {
  while (::write(fd_, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace muster::agent
