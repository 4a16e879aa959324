#include "adapters/net/socket_bio.hpp"

#include <cerrno>
#include <cstdint>
#include <sys/socket.h>

#include "adapters/net/would_block.hpp"
#include "base/result.hpp"

namespace muster::net {
namespace {

int FdOf(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

int Write(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  BIO_clear_retry_flags(bio);
  ssize_t sent = send(FdOf(bio), data, size, MSG_NOSIGNAL);
  if (sent < 0) {
    if (WouldBlock(errno)) BIO_set_retry_write(bio);
    return 0;
  }
  *written = static_cast<std::size_t>(sent);
  return 1;
}

int Read(BIO* bio, char* data, std::size_t size, std::size_t* read) {
  BIO_clear_retry_flags(bio);
  ssize_t got = recv(FdOf(bio), data, size, 0);
  if (got < 0) {
    if (WouldBlock(errno)) BIO_set_retry_read(bio);
    return 0;
  }
  if (got == 0) {
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
  }
  *read = static_cast<std::size_t>(got);
  return 1;
}

long Control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

BIO_METHOD* MakeMethod() {
  BIO_METHOD* method =
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "socket");
  MUSTER_CHECK(method != nullptr);
  BIO_meth_set_write_ex(method, Write);
  BIO_meth_set_read_ex(method, Read);
  BIO_meth_set_ctrl(method, Control);
  return method;
}

}  // namespace

BIO* NewSocketBio(int fd) {
  static const BIO_METHOD* method = MakeMethod();  // for the life of the process
  BIO* bio = BIO_new(method);
  MUSTER_CHECK(bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace muster::net
