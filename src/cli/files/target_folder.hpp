#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "adapters/files/fd.hpp"
#include "base/result.hpp"

namespace muster::cli {

// A folder here for files whose names are chosen elsewhere: by a host, or by the author of what is
// imported. Nothing outside it is read, written or changed, also when another user can write to it
// and puts links there: none below it is followed. Names are paths below it, of plain parts.
class TargetFolder {
 public:
  // Makes it when it is missing. Links on the way to it are followed: the person named it.
  static Result<TargetFolder> Make(const std::string& folder);

  // As a person reads it.
  std::string PathOf(const std::string& name) const;

  // The regular file at `name`, for reading. kNotFound: there is none. kDenied: a link is there or
  // on the way. kInvalid: it is of another kind, or cannot be opened.
  Result<files::Fd> Open(const std::string& name) const;

  // Makes a file, has `fill` write it, and puts it at `name` in place of what was there, also of a
  // link. Until then and on failure nothing changes. Folders on the way are made; `room` is how
  // many may be, and is what is left of it afterwards. kDenied: a link is on the way, or there is
  // no room. kInvalid: it cannot be written. Errors of `fill` come back as they are.
  Result<> Put(const std::string& name, mode_t mode, std::size_t& room,
               const std::function<Result<>(int)>& fill) const;

  // A mode as a file here gets it: the umask applies.
  mode_t Masked(mode_t mode) const { return mode & ~umask_; }

 private:
  TargetFolder(files::Fd folder, std::string name, mode_t umask)
      : folder_(std::move(folder)), name_(std::move(name)), umask_(umask) {}

  std::unexpected<Error> Refuse(std::string_view verb, const std::string& name, int error) const;

  files::Fd folder_;
  std::string name_;
  mode_t umask_;
};

}  // namespace muster::cli
