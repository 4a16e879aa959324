#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/files/fetched_files.hpp"
#include "cli/files/file_options.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_end.hpp"
#include "cli/runs/run_follow.hpp"
#include "domain/command.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kFetchExamples = R"(Examples:
  muster fetch -t 'web*' /etc/app.conf got             got/web1/etc/app.conf, got/web2/…
  muster fetch -t app=web '/var/log/app/*.log' logs    * and ? match names on the hosts
  muster fetch -t web1 /etc/nginx nginx                a folder with all that is in it
  muster fetch -t @db /var/lib/dump.sql . --max-size 20GB --rate 20MB

Links inside a folder are not followed, there and here. What is already here, unchanged, does not
travel again. Files keep who may read and execute them, within your umask.)";

struct FetchFlags {
  FileOptions options;
  std::vector<std::string> paths;
  std::string max_size;
};

// Of one host.
Result<std::uint64_t> MaxBytesOf(const FetchFlags& flags) {
  if (flags.max_size.empty()) return FilePull{}.max_bytes;
  const auto size = ParseSize(flags.max_size);
  if (!size) return Fail(ErrorCode::kInvalid, "--max-size: {}", size.error().message);
  return *size;
}

// Files are put at the path they have on the host, so that path must be plain.
bool IsPlainPath(std::string_view path) {
  return path.starts_with('/') && IsUtf8(path) && path.find('\0') == std::string_view::npos &&
         std::ranges::none_of(Split(path, '/'),
                              [](std::string_view part) { return part == "." || part == ".."; });
}

Result<json::value> BodyOf(const FetchFlags& flags, std::uint64_t max_bytes) {
  auto body = RunFrame(flags.options.run);
  if (!body) return Fail(body.error());
  const auto rate = RateOf(flags.options);
  if (!rate) return Fail(rate.error());
  json::array paths;
  for (const auto& path : flags.paths) {
    if (!IsPlainPath(path))
      return Fail(ErrorCode::kInvalid,
                  "'{}': expected a whole path on the hosts, which begins with / and is without "
                  "'.' and '..'",
                  path);
    paths.emplace_back(path);
  }
  json::object pull{{"paths", std::move(paths)}};
  if (*rate > 0) pull["rate"] = *rate;
  pull["max_bytes"] = max_bytes;
  (*body)["pull"] = std::move(pull);
  return json::value(std::move(*body));
}

json::value DocumentOf(const json::value& run, const std::vector<FetchedFile>& files) {
  json::array list;
  for (const auto& file : files)
    list.push_back({{"host", file.host},
                    {"path", EscapePath(file.line.path)},
                    {"local", EscapePath(file.local)},
                    {"sha256", ToHex(file.line.sha256)},
                    {"size", file.line.size},
                    {"mode", fmt::format("{:04o}", file.line.mode)}});
  return {{"id", TextOf(run, "id")}, {"state", TextOf(run, "state")}, {"files", std::move(list)}};
}

// The output of hosts that failed, as it says what did not come; their stdout is a list for us.
void TellProblems(const Context& context, ApiClient& api, const std::string& run,
                  const std::string& host) {
  const auto log = api.GetRawLog(run, {{"host", host}, {"stream", "stderr"}});
  if (!log) return;
  for (const auto line : Split(log->bytes, '\n'))
    if (!line.empty()) context.Say(fmt::format("{}: {}", host, line));
}

// Says what does not come of one host: the first lines one by one, then how many there were. A
// hostile one could list any number.
class Refusals {
 public:
  Refusals(const Context& context, const std::string& host) : context_(context), host_(host) {}

  void Add(const std::string& why) {
    if (++count_ <= kMostTold) context_.Say(fmt::format("{}: {}", host_, why));
  }
  // False when there were any.
  bool Tell() const {
    if (count_ > kMostTold)
      context_.Say(
          fmt::format("{}: {} of the files it reported were refused; these are the first {}", host_,
                      Count(count_), kMostTold));
    return count_ == 0;
  }

 private:
  static constexpr std::size_t kMostTold = 10;
  const Context& context_;
  const std::string& host_;
  std::size_t count_ = 0;
};

// True when all came.
bool BringFrom(const Context& context, FetchedFiles& store, const std::string& host,
               const PulledList& list, HostShare share, std::vector<FetchedFile>& files) {
  Refusals refusals(context, host);
  for (std::size_t i = 0; i < list.unreadable; ++i)
    refusals.Add("a line of its list is not of the form that agents write");
  for (const auto& line : list.lines) {
    auto file = store.Bring(host, line, share);
    if (file)
      files.push_back(std::move(*file));
    else
      refusals.Add(file.error().message);
  }
  return refusals.Tell();
}

// True when all came.
Result<bool> BringAll(const Context& context, ApiClient& api, FetchedFiles& store,
                      const std::string& run, const HostShare& share,
                      std::vector<FetchedFile>& files) {
  std::vector<std::string> hosts;
  const auto pages = api.Pages(fmt::format("/runs/{}/tasks", Segment(run)), {{"limit", "500"}},
                               "tasks", [&](const json::value& task) {
                                 if (NumberOf(task, "attempt") > 0)
                                   hosts.push_back(TextOf(task, "host"));
                                 return true;
                               });
  if (!pages) return Fail(pages.error());
  bool all = true;
  for (const auto& host : hosts) {
    TellProblems(context, api, run, host);
    const auto list = store.ListOf(run, host);
    if (!list) return Fail(list.error());
    if (!BringFrom(context, store, host, *list, share, files)) all = false;
  }
  return all;
}

Result<int> Fetch(const Context& context, FetchFlags& flags) {
  if (flags.paths.size() < 2)
    return Fail(ErrorCode::kInvalid,
                "expected paths on the hosts and a folder here; for example: muster fetch -t web1 "
                "/etc/app.conf got");
  const std::string folder = flags.paths.back();
  flags.paths.pop_back();
  const auto max_bytes = MaxBytesOf(flags);
  if (!max_bytes) return Fail(max_bytes.error());
  const auto body = BodyOf(flags, *max_bytes);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  // Before the start: hosts need not send what there is no place for.
  std::optional<TargetFolder> target;
  if (!flags.options.start.dry_run) {
    auto made = TargetFolder::Make(folder);
    if (!made) return Fail(made.error());
    target.emplace(std::move(*made));
  }
  const auto started = StartRun(context, *api, *body, flags.options.start);
  if (!started) return Fail(started.error());
  if (started->code) return *started->code;
  FollowOptions follow;
  follow.run = TextOf(started->answer, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started->answer, "hosts"));
  follow.from = std::to_string(NumberOf(started->answer, "commit"));
  follow.asks = true;
  const auto left = Follower(context, *api, follow).Watch();
  if (!left) return Fail(left.error());
  if (*left) return **left;

  const auto run =
      Persist(context, kResultPatience, [&] { return api->Get("/runs/" + Segment(follow.run)); });
  if (!run) return Fail(run.error());
  FetchedFiles store(*api, std::move(*target));
  std::vector<FetchedFile> files;
  const auto all = BringAll(context, *api, store, follow.run, {flags.paths, *max_bytes}, files);
  if (!all) return Fail(all.error());
  if (!context.PrintDocument(DocumentOf(*run, files)))
    for (const auto& file : files) Write(stdout, EscapePath(file.local) + "\n");
  context.Say(fmt::format("{} {}, {}, in {}", Count(files.size()),
                          files.size() == 1 ? "file" : "files", FormatSize(store.Bytes()), folder));
  const int code = ExitCodeOfRun(*run);
  return code == 0 && !*all ? 1 : code;
}

}  // namespace

void AddFetch(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("fetch",
                                     "Bring files from hosts into one folder per host\n"
                                     "muster fetch -t EXPR [OPTIONS] PATH... DIR");
  const auto flags = std::make_shared<FetchFlags>();
  command->footer(kFetchExamples);
  command->add_option("paths", flags->paths, "What to bring, and last the folder here")
      ->type_name("FILE");
  command
      ->add_option("--max-size", flags->max_size,
                   "Most bytes to take from each host, all files together (default: 1GB)")
      ->type_name("SIZE");
  AddFileOptions(*command, flags->options);
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Fetch(context, *flags); }; });
}

}  // namespace muster::cli
