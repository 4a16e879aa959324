#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/etcd/messages.hpp"
#include "adapters/etcd/view.hpp"

using namespace muster;

// Whatever an endpoint answers is read or refused, and a member that was read is read again as it
// was written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto member = etcd::ReadMember(bytes))
    MUSTER_CHECK(etcd::ReadMember(etcd::MemberText(*member)) == *member);
  (void)etcd::ReadLeader(bytes);
  const auto answer = etcd::ReadAnswer(200, bytes);
  if (!answer) return 0;
  (void)etcd::ReadToken(*answer);
  (void)etcd::ReadTxn(*answer);
  if (const auto grant = etcd::ReadGrant(*answer)) MUSTER_CHECK(grant->ttl.count() > 0);
  if (const auto ttl = etcd::ReadKeptAlive(*answer)) MUSTER_CHECK(ttl->count() >= 0);
  etcd::View view{etcd::Keys("/muster/")};
  etcd::Position reader;
  if (const auto snapshot = etcd::ReadSnapshot(*answer)) view.Replace(*snapshot, reader);
  if (const auto news = etcd::ReadNews(*answer)) view.Apply(news->events);
  (void)view.Members();
  return 0;
}
