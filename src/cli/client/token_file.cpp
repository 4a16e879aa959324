#include "cli/client/token_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

#include "base/text.hpp"

namespace muster::cli {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;

// Only a file keeps its content for others; a pipe, a terminal and a device do not.
bool IsFileWith(const std::string& path, mode_t bits) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & bits) != 0;
}

}  // namespace

Result<std::string> ReadTokenFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return Fail(ErrorCode::kInvalid, "token file '{}' is a folder", path);
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file)
    return Fail(ErrorCode::kInvalid, "cannot read token file '{}': {}", path, std::strerror(errno));
  if (IsFileWith(path, kOthersWrite))
    return Fail(ErrorCode::kInvalid,
                "token file '{0}' is not used: others may write it; make it yours alone: chmod 600 "
                "{0}",
                path);
  const auto token = Trim(text);
  if (token.empty()) return Fail(ErrorCode::kInvalid, "token file '{}' is empty", path);
  return std::string(token);
}

std::string TokenFileWarning(const std::string& path) {
  if (!IsFileWith(path, kOthersRead)) return {};
  return fmt::format(
      "warning: others may read token file '{0}'; make it yours alone: chmod 600 {0}", path);
}

}  // namespace muster::cli
