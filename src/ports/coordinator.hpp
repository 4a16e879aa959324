#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace muster {

// Says who may try to lead. Election only says who may try: the term comes from the store.
class Coordinator {
 public:
  virtual ~Coordinator() = default;

  // Asks to lead. `elected` is called once when this server may try; `lost` once when it must have
  // stopped acting. Neither is called after Resign returned. kConflict when already campaigning.
  virtual Result<> Campaign(std::string name, std::function<void()> elected,
                            std::function<void()> lost) = 0;

  // Gives up the campaign or the leadership; another candidate may be elected at once.
  virtual void Resign() = 0;

  // Who leads now; "" when nobody does.
  virtual std::string Leader() const = 0;
};

}  // namespace muster
