#pragma once

#include <optional>
#include <string>

#include "adapters/files/fd.hpp"

namespace muster::files {

// A new file in an open folder that takes its name once it is whole. Nobody else can have prepared
// it, as a file or as a link. It is removed with the object unless it got its name.
class Temporary {
 public:
  // For the file `target` of `folder`, which must stay open while this object lives. Mode 0600.
  // None with errno on failure.
  static std::optional<Temporary> Make(int folder, const std::string& target);
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  int Get() const noexcept { return file_.Get(); }
  // Takes the place of what has this name in the folder, also of a link. False with errno.
  bool Become(const std::string& target);

 private:
  Temporary(Fd file, int folder, std::string name)
      : file_(std::move(file)), folder_(folder), name_(std::move(name)) {}

  Fd file_;
  int folder_;
  std::string name_;
};

}  // namespace muster::files
