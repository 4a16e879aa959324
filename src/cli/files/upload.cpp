#include "cli/files/upload.hpp"

#include <map>
#include <thread>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"

namespace muster::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostSends = 8;  // without a byte of progress
constexpr auto kDrawEvery = std::chrono::milliseconds(100);

// One line that is redrawn, on a terminal only.
class Meter {
 public:
  explicit Meter(const Context& context) : shown_(context.terminal.stderr_tty && !context.quiet) {}
  ~Meter() { Clear(); }

  void Begin(std::string what, std::uint64_t size, std::uint64_t offset) {
    what_ = std::move(what);
    size_ = size;
    at_ = begun_at_ = offset;
    begun_ = Clock::now();
  }
  void Add(std::uint64_t bytes) {
    at_ += bytes;
    if (!shown_ || Clock::now() < drawn_ + kDrawEvery) return;
    drawn_ = Clock::now();
    const double seconds = std::max(0.1, std::chrono::duration<double>(drawn_ - begun_).count());
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(at_ - begun_at_) / seconds);
    const std::uint64_t percent = size_ == 0 ? 100 : at_ * 100 / size_;
    constexpr std::size_t kBar = 20;
    const std::string full(percent * kBar / 100, '#');
    auto line = ClearedLine();
    line += OwnText(fmt::format("[{:-<{}}] {:3} % of {}, {}/s  {}", full, kBar, percent,
                                FormatSize(size_), FormatSize(rate), VisibleLine(what_)));
    Write(stderr, line);
    on_screen_ = true;
  }
  void Clear() {
    if (std::exchange(on_screen_, false)) Write(stderr, ClearedLine());
  }

 private:
  const bool shown_;
  std::string what_;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t begun_at_ = 0;
  Clock::time_point begun_;
  Clock::time_point drawn_;
  bool on_screen_ = false;
};

class Uploader {
 public:
  Uploader(const Context& context, ApiClient& api) : api_(api), meter_(context) {}

  // False when the server had it.
  Result<bool> Send(const LocalFile& file) {
    const std::string hex = ToHex(file.entry.sha256);
    Duration pause(250);
    for (int left = kMostSends;; --left) {
      const auto state = api_.FindArtifact(hex);
      if (state && state->there) return sent_any_;
      if (!state && !MayPass(state.error())) return Fail(state.error());
      const std::uint64_t before = sent_;
      const Result<> put = state ? Put(file, hex, state->uploaded) : Fail(state.error());
      if (put) return true;
      if (!MayPass(put.error())) return Fail(put.error());
      if (sent_ > before) left = kMostSends;
      if (left <= 1) return Fail(put.error());
      meter_.Clear();
      std::this_thread::sleep_for(pause);
      pause = std::min<Duration>(pause * 2, std::chrono::seconds(10));
    }
  }
  std::uint64_t Sent() const { return sent_; }
  void Next() { sent_any_ = false; }

 private:
  static bool MayPass(const Error& error) {
    return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
           error.code == ErrorCode::kConflict;
  }

  Result<> Put(const LocalFile& file, const std::string& hex, std::uint64_t offset) {
    const std::uint64_t size = file.entry.size;
    if (offset >= size) offset = 0;
    const auto opened = file.root.OpenFile(file.path);
    if (!opened) return Fail(opened.error());
    meter_.Begin(file.path, size, offset);
    std::uint64_t at = offset;
    auto put = api_.PutArtifact(
        hex, size, offset, [&](char* into, std::size_t room) -> Result<std::size_t> {
          const ssize_t got = ::pread(opened->Get(), into, room, static_cast<off_t>(at));
          if (got <= 0)
            return Fail(ErrorCode::kInvalid, "'{}' changed while it was sent", file.path);
          at += static_cast<std::uint64_t>(got);
          sent_ += static_cast<std::uint64_t>(got);
          sent_any_ = true;
          meter_.Add(static_cast<std::uint64_t>(got));
          return static_cast<std::size_t>(got);
        });
    meter_.Clear();
    return put;
  }

  ApiClient& api_;
  Meter meter_;
  std::uint64_t sent_ = 0;
  bool sent_any_ = false;
};

}  // namespace

Result<> HashAll(CopyPlan& plan) {
  for (auto& file : plan.files) {
    if (file.entry.folder) continue;
    auto hash = HashFile(file.path, file.root);
    if (!hash) return Fail(hash.error());
    file.entry.sha256 = std::move(hash->sha256);
    file.entry.size = hash->size;
  }
  return {};
}

Result<> UploadAll(const Context& context, ApiClient& api, const CopyPlan& plan) {
  std::map<std::string, bool> known;  // by hash: whether it was sent
  Uploader uploader(context, api);
  for (const auto& file : plan.files) {
    if (file.entry.folder || known.contains(file.entry.sha256)) continue;
    uploader.Next();
    const auto sent = uploader.Send(file);
    if (!sent) return Fail(sent.error());
    known[file.entry.sha256] = *sent;
  }
  const auto sent = static_cast<std::size_t>(
      std::ranges::count_if(known, [](const auto& item) { return item.second; }));
  if (known.empty()) return {};
  context.Say(fmt::format("{} of {} {} sent to the server, {}", sent, known.size(),
                          known.size() == 1 ? "file" : "files", FormatSize(uploader.Sent())));
  return {};
}

boost::json::array FilesView(const CopyPlan& plan) {
  boost::json::array files;
  for (const auto& file : plan.files) {
    boost::json::object entry{{"mode", fmt::format("{:04o}", file.entry.mode)}};
    if (!file.entry.path.empty()) entry["path"] = file.entry.path;
    if (file.entry.folder) {
      entry["folder"] = true;
    } else {
      entry["sha256"] = ToHex(file.entry.sha256);
      entry["size"] = file.entry.size;
    }
    files.push_back(std::move(entry));
  }
  return files;
}

}  // namespace muster::cli
