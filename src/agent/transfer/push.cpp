#include "agent/transfer/push.hpp"

#include "adapters/crypto/digest.hpp"
#include "agent/transfer/placing.hpp"
#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

constexpr std::uint32_t kPlainMode = 0644;

bool IsName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

class Pusher {
 public:
  Pusher(const FilePush& push, Placing placing, Owner owner, const std::string& data,
         Courier& courier, const TransferOutput& output)
      : push_(push),
        placing_(std::move(placing)),
        owner_(owner),
        data_(data),
        courier_(courier),
        output_(output) {}

  Result<> Run() {
    if (push_.files.empty()) return PutContent();
    for (const auto& entry : push_.files) {
      if (auto checked = CheckBelow(entry); !checked) return checked;
      if (auto put = entry.folder ? MakeFolder(entry) : PutFile(entry); !put) return put;
    }
    return {};
  }

 private:
  Looks LooksOf(std::uint32_t mode) const { return {push_.mode.value_or(mode), owner_}; }

  void Tell(const std::string& path, std::uint64_t size, Placed placed) const {
    output_.out(fmt::format("{}: {}, {}", EscapePath(path), FormatSize(size), Name(placed)));
  }

  Result<> PutContent() {
    const std::string& content = push_.content;
    const Looks looks = LooksOf(kPlainMode);
    const auto there = placing_.IsThere("", crypto::Sha256(content), content.size(), looks);
    if (!there) return Fail(there.error());
    const auto placed =
        *there ? Result<Placed>(Placed::kUnchanged) : placing_.Write("", content, looks);
    if (!placed) return Fail(placed.error());
    Tell(placing_.PathOf(""), content.size(), *placed);
    return {};
  }

  Result<> PutFile(const FileEntry& entry) {
    const Looks looks = LooksOf(entry.mode);
    const auto there = placing_.IsThere(entry.path, entry.sha256, entry.size, looks);
    if (!there) return Fail(there.error());
    auto placed = Result<Placed>(Placed::kUnchanged);
    if (!*there) placed = FetchAndPut(entry, looks);
    if (!placed) return Fail(placed.error());
    Tell(placing_.PathOf(entry.path), entry.size, *placed);
    return {};
  }

  Result<Placed> FetchAndPut(const FileEntry& entry, const Looks& looks) {
    if (entry.size == 0) return placing_.Write(entry.path, "", looks);
    const auto part = PartFile::Fetch(data_, entry.sha256, entry.size, courier_);
    if (!part)
      return Fail(part.error().code, "{}: {}", EscapePath(placing_.PathOf(entry.path)),
                  part.error().message);
    auto placed = placing_.Put(entry.path, *part, looks);
    part->Remove();  // when it was copied, or could not be put there
    return placed;
  }

  Result<> MakeFolder(const FileEntry& entry) {
    const auto placed = placing_.MakeFolder(entry.path, {entry.mode, owner_});
    if (!placed) return Fail(placed.error());
    if (*placed == Placed::kNew)
      output_.out(fmt::format("{}/: folder, new", EscapePath(placing_.PathOf(entry.path))));
    return {};
  }

  const FilePush& push_;
  Placing placing_;
  const Owner owner_;
  const std::string& data_;
  Courier& courier_;
  const TransferOutput& output_;
};

}  // namespace

Result<std::string> PlaceOf(const FilePush& push) {
  std::string base = push.to;
  if (!base.starts_with('/') || base.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalid, "'{}' is not a whole path; it must begin with /",
                EscapePath(push.to));
  if (base.ends_with('/') && !(push.tree && push.name.empty())) {
    if (!IsName(push.name))
      return Fail(ErrorCode::kInvalid, "'{}' is a folder, and the file has no name to keep there",
                  EscapePath(push.to));
    base += push.name;
  }
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  return base;
}

Result<> CheckBelow(const FileEntry& entry) {
  if (entry.path.empty()) return {};
  for (const auto part : Split(entry.path, '/'))
    if (!IsName(part))
      return Fail(ErrorCode::kInvalid, "'{}' is no path below a folder", EscapePath(entry.path));
  return {};
}

Result<> Push(const FilePush& push, const std::string& user, const std::string& data,
              Courier& courier, const TransferOutput& output) {
  const auto base = PlaceOf(push);
  if (!base) return Fail(base.error());
  auto account = FindAccount(user);
  if (!account) return Fail(account.error());
  const auto owner = FindOwner(push.owner, *account);
  if (!owner) return Fail(owner.error());
  return Pusher(push, Placing(std::move(*account), *base), *owner, data, courier, output).Run();
}

}  // namespace muster::agent
