#include "cli/client/contexts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml-cpp/yaml.h>

#include "adapters/net/client.hpp"
#include "base/similar.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;

Result<> CheckName(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.');
  });
  if (!name.empty() && name.size() <= kLongestName && plain && name.front() != '.' &&
      name.front() != '-')
    return {};
  return Fail(ErrorCode::kInvalid,
              "'{}' cannot name a context: expected letters, digits, '-', '_' and '.'", name);
}

// Whole or not at all, and never readable by anybody else, not even for a moment.
Result<> Replace(const fs::path& path, std::string_view text) {
  const std::string temporary = path.string() + ".new";
  const auto fail = [&](std::string_view what) {
    return Fail(ErrorCode::kInternal, "cannot {} '{}': {}", what, temporary, std::strerror(errno));
  };
  unlink(temporary.c_str());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail("make");
  while (!text.empty()) {
    const auto size = write(fd, text.data(), text.size());
    if (size < 0) {
      close(fd);
      return fail("write");
    }
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  const bool kept = fsync(fd) == 0;
  close(fd);
  if (!kept) return fail("keep");
  if (rename(temporary.c_str(), path.c_str()) != 0) return fail("rename");
  return {};
}

Result<> MakeFolder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Fail(ErrorCode::kInternal, "cannot make '{}': {}", folder.string(), std::strerror(errno));
}

Result<std::string> ReadPrivate(const fs::path& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::string();
    return Fail(ErrorCode::kInvalid, "cannot read '{}': {}", path.string(), std::strerror(errno));
  }
  if ((info.st_mode & 077) != 0)
    return Fail(ErrorCode::kInvalid,
                "'{0}' holds tokens and others may read it; make it yours alone: chmod 600 {0}",
                path.string());
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || (info.st_size > 0 && !(text << file.rdbuf())))
    return Fail(ErrorCode::kInvalid, "cannot read '{}'", path.string());
  return text.str();
}

std::string TextAt(const YAML::Node& node, const char* field) {
  return node[field] ? node[field].as<std::string>() : std::string();
}

}  // namespace

std::string ContextNameFor(std::string_view url) {
  const auto endpoint = net::ParseEndpoint(url);
  if (!endpoint) return {};
  std::string name = endpoint->host;
  if (endpoint->port != net::Endpoint().port) name += "-" + endpoint->port;
  // An address of IPv6 has characters that a file's name should not have.
  for (auto& c : name)
    if (c == ':' || c == '[' || c == ']' || c == '%') c = '-';
  const auto first = name.find_first_not_of('-');
  return first == std::string::npos ? std::string() : name.substr(first);
}

fs::path Contexts::DefaultFolder() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return fs::path(text == nullptr ? "" : text);
  };
  if (const auto xdg = value("XDG_CONFIG_HOME"); xdg.is_absolute()) return xdg / "muster";
  if (const auto home = value("HOME"); home.is_absolute()) return home / ".config/muster";
  return {};
}

Result<Contexts> Contexts::Load(fs::path folder) {
  Contexts contexts(std::move(folder));
  if (contexts.folder_.empty()) return contexts;
  const auto text = ReadPrivate(contexts.File());
  if (!text) return Fail(text.error());
  try {
    const auto document = YAML::Load(*text);
    if (!document.IsDefined() || document.IsNull()) return contexts;
    contexts.current_ = TextAt(document, "current");
    for (const auto& item : document["contexts"])
      contexts.all_.push_back({TextAt(item, "name"), TextAt(item, "server"), TextAt(item, "token"),
                               TextAt(item, "ca")});
  } catch (const YAML::Exception& problem) {
    return Fail(ErrorCode::kInvalid, "'{}' is damaged ({}); mend it or move it away",
                contexts.File().string(), problem.what());
  }
  return contexts;
}

Result<> Contexts::Save() const {
  if (folder_.empty())
    return Fail(ErrorCode::kInvalid, "nowhere to keep contexts: set HOME or XDG_CONFIG_HOME");
  if (auto ok = MakeFolder(folder_); !ok) return ok;
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "current" << YAML::Value << current_;
  out << YAML::Key << "contexts" << YAML::Value << YAML::BeginSeq;
  for (const auto& context : all_) {
    out << YAML::BeginMap;
    out << YAML::Key << "name" << YAML::Value << context.name;
    out << YAML::Key << "server" << YAML::Value << context.server;
    if (!context.ca_file.empty()) out << YAML::Key << "ca" << YAML::Value << context.ca_file;
    out << YAML::Key << "token" << YAML::Value << context.token << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return Replace(File(), fmt::format("# Written by muster login. Keep it private: it holds "
                                     "tokens.\n{}\n",
                                     out.c_str()));
}

const SavedContext* Contexts::Find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &SavedContext::name);
  return found == all_.end() ? nullptr : &*found;
}

Result<> Contexts::Put(SavedContext context, const std::string& ca_pem) {
  if (auto ok = CheckName(context.name); !ok) return ok;
  if (folder_.empty())
    return Fail(ErrorCode::kInvalid, "nowhere to keep contexts: set HOME or XDG_CONFIG_HOME");
  if (!ca_pem.empty()) {
    context.ca_file = context.name + ".ca.pem";
    if (auto ok = MakeFolder(folder_); !ok) return ok;
    if (auto ok = Replace(folder_ / context.ca_file, ca_pem); !ok) return ok;
  }
  const auto found = std::ranges::find(all_, context.name, &SavedContext::name);
  if (found == all_.end())
    all_.push_back(std::move(context));
  else
    *found = std::move(context);
  return {};
}

Result<> Contexts::Use(std::string_view name) {
  if (Find(name) == nullptr) return Fail(NoSuch(name));
  current_ = name;
  return {};
}

Result<> Contexts::Remove(std::string_view name) {
  const auto found = std::ranges::find(all_, name, &SavedContext::name);
  if (found == all_.end()) return Fail(NoSuch(name));
  if (const auto ca = CaPath(*found); !ca.empty()) unlink(ca.c_str());
  if (current_ == name) current_.clear();
  all_.erase(found);
  return {};
}

std::string Contexts::CaPath(const SavedContext& context) const {
  return context.ca_file.empty() ? "" : (folder_ / context.ca_file).string();
}

Error Contexts::NoSuch(std::string_view name) const {
  std::string known;
  NearestName nearest(name);
  for (const auto& context : all_) {
    known += (known.empty() ? "" : ", ") + context.name;
    nearest.Offer(context.name);
  }
  return {
      ErrorCode::kNotFound,
      known.empty()
          ? fmt::format("there is no context '{}'; make one with: muster login URL", name)
          : fmt::format("there is no context '{}'{}; there are: {}", name, nearest.Hint(), known)};
}

}  // namespace muster::cli
