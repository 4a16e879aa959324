#include "link/codec/parts.hpp"

// What a command does other than start a process, and the secrets it uses.
namespace muster::link::codec {
namespace {

constexpr std::uint32_t kMaxMode = 07777;

void Put(const FilePush& push, wire::FilePush* out) {
  for (const auto& file : push.files) {
    auto* entry = out->add_files();
    entry->set_path(file.path);
    entry->set_sha256(file.sha256);
    entry->set_size(file.size);
    entry->set_mode(file.mode);
    entry->set_folder(file.folder);
  }
  out->set_tree(push.tree);
  out->set_content(push.content);
  out->set_to(push.to);
  out->set_name(push.name);
  if (push.mode) out->set_mode(*push.mode);
  out->set_owner(Clean(push.owner));
  out->set_rate(push.rate);
}

Result<FileEntry> Take(const wire::FileEntry& in) {
  if (in.sha256().size() != (in.folder() ? 0 : kSha256Bytes))
    return Fail(ErrorCode::kInvalid, "link: a file with a SHA-256 of {} bytes", in.sha256().size());
  if (in.mode() > kMaxMode)
    return Fail(ErrorCode::kInvalid, "link: {:o} is not a mode of a file", in.mode());
  return FileEntry{.path = in.path(),
                   .sha256 = in.sha256(),
                   .size = in.size(),
                   .mode = in.mode(),
                   .folder = in.folder()};
}

Result<FilePush> Take(const wire::FilePush& in) {
  FilePush push{.files = {},
                .tree = in.tree(),
                .content = in.content(),
                .to = in.to(),
                .name = in.name(),
                .mode = {},
                .owner = in.owner(),
                .rate = in.rate()};
  if (in.has_mode()) push.mode = in.mode();
  if (push.mode && *push.mode > kMaxMode)
    return Fail(ErrorCode::kInvalid, "link: {:o} is not a mode of a file", *push.mode);
  push.files.reserve(static_cast<std::size_t>(in.files_size()));
  for (const auto& item : in.files()) {
    auto entry = Take(item);
    if (!entry) return Fail(entry.error());
    push.files.push_back(std::move(*entry));
  }
  return push;
}

}  // namespace

void PutActions(const Command& command, wire::Command* out) {
  if (command.push) Put(*command.push, out->mutable_push());
  if (command.pull) {
    for (const auto& path : command.pull->paths) out->mutable_pull()->add_paths(path);
    out->mutable_pull()->set_max_bytes(command.pull->max_bytes);
    out->mutable_pull()->set_rate(command.pull->rate);
  }
  if (command.reboot) {
    const auto& words = command.reboot->argv;
    out->mutable_reboot()->mutable_argv()->Assign(words.begin(), words.end());
  }
  for (const auto& use : command.secrets) {
    auto* secret = out->add_secrets();
    secret->set_variable(Clean(use.variable));
    secret->set_secret(Clean(use.secret));
  }
}

Result<> TakeActions(const wire::Command& in, Command* out) {
  if (in.has_push() + in.has_pull() + in.has_reboot() > 1)
    return Fail(ErrorCode::kInvalid, "link: a command that does several things at once");
  if (in.has_push()) {
    auto push = Take(in.push());
    if (!push) return Fail(push.error());
    out->push = std::make_shared<const FilePush>(std::move(*push));
  }
  if (in.has_pull())
    out->pull = std::make_shared<const FilePull>(
        FilePull{.paths = {in.pull().paths().begin(), in.pull().paths().end()},
                 .max_bytes = in.pull().max_bytes(),
                 .rate = in.pull().rate()});
  if (in.has_reboot())
    out->reboot = std::make_shared<const Reboot>(
        Reboot{.argv = {in.reboot().argv().begin(), in.reboot().argv().end()}});
  for (const auto& use : in.secrets())
    out->secrets.push_back({.variable = use.variable(), .secret = use.secret()});
  return {};
}

}  // namespace muster::link::codec
