#include "agent/host/resident.hpp"

#include <cstdint>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace muster::agent {
namespace {

// Writable segments are left alone: their pages cannot be read again.
int GiveBackSegments(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t first = begin / page * page;
    const std::uintptr_t last = (begin + segment.p_memsz) / page * page;  // whole pages only
    if (last > first)
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // NOLINT
  }
  return 1;  // the first object is the program; libraries are shared with others anyway
}

}  // namespace

void GiveBackMemory() {
  ::malloc_trim(0);
  ::dl_iterate_phdr(GiveBackSegments, nullptr);
}

}  // namespace muster::agent
