#pragma once

#include <unistd.h>

namespace muster::archive {

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace muster::archive
