#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/identity.hpp"
#include "agent/shim/spool.hpp"
#include "agent/tasks/spool_reader.hpp"
#include "agent/tasks/task_folder.hpp"
#include "link/codec/codec.hpp"

namespace {

using namespace muster;
using namespace muster::agent;

// A file of the given bytes; the same one each time.
std::string FileOf(std::string_view bytes) {
  static const int kFd = memfd_create("spool", MFD_CLOEXEC);
  MUSTER_CHECK(kFd >= 0 && ftruncate(kFd, 0) == 0 && lseek(kFd, 0, SEEK_SET) == 0);
  MUSTER_CHECK(WriteAll(kFd, bytes) == 0);
  return fmt::format("/proc/self/fd/{}", kFd);
}

// The spool read from disk in small steps is the spool in memory.
void CheckSpool(std::string_view bytes) {
  const auto parsed = ParseSpool(bytes);
  MUSTER_CHECK(parsed.whole_bytes <= bytes.size());
  std::string output;
  for (const auto& record : parsed.records) output += record.data;
  SpoolReader reader(FileOf(bytes));
  MUSTER_CHECK(reader.Advance() == output.size() && reader.FileBytes() == parsed.whole_bytes);
  std::string read;
  while (read.size() < output.size()) {
    const auto chunks = reader.Read(read.size(), 1 + bytes.size() % 5);
    MUSTER_CHECK(chunks && !chunks->empty());
    for (const auto& chunk : *chunks) {
      MUSTER_CHECK(chunk.offset == read.size());
      read += chunk.data;
      // What the spool holds must be something the link takes.
      link::NodeFrame frame;
      frame.chunks.push_back(chunk);
      MUSTER_CHECK(link::DecodeNodeFrame(link::Encode(frame)));
    }
  }
  MUSTER_CHECK(read == output);
  const auto totals = reader.Measure();
  MUSTER_CHECK(totals && totals->bytes == output.size());
}

}  // namespace

// Whatever a crash or a bad disk leaves in an agent's folder is read or refused; and what is read
// can be written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto identity = ParseIdentity(bytes)) {
    const auto again = ParseIdentity(FormatIdentity(*identity));
    MUSTER_CHECK(again && *again == *identity);
  }
  if (const auto record = ParseOrderRecord(bytes)) {
    const auto again = ParseOrderRecord(EncodeOrderRecord(record->boot, record->order));
    MUSTER_CHECK(again && again->boot == record->boot);
    MUSTER_CHECK(*again->order.command == *record->order.command);
  }
  const TaskKey some{RunId(1), Visit(1), 0, HostId(1), Attempt(1)};
  if (const auto end = ParseExitRecord(some, bytes))
    MUSTER_CHECK(ParseExitRecord(some, EncodeExitRecord(some, *end)));
  if (const auto wish = ParseKillWish(bytes)) MUSTER_CHECK(*wish >= Duration(0));
  if (const auto task = ParseFolderName(bytes)) MUSTER_CHECK(FolderName(*task) == bytes);
  CheckSpool(bytes);
  return 0;
}
