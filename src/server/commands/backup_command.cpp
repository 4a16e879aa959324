#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "adapters/system/system_clock.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "server/assembly/stores.hpp"
#include "server/commands/command_line.hpp"
#include "server/keeping/backup.hpp"

namespace muster::server {
namespace {

void PrintParts(const archive::Manifest& manifest) {
  std::size_t logs = 0;
  std::uint64_t log_bytes = 0;
  for (const auto& [name, part] : manifest.parts) {
    if (name.starts_with("logs/")) {
      ++logs;
      log_bytes += part.size;
      continue;
    }
    std::printf("  %-14s %s\n", name.c_str(), FormatSize(part.size).c_str());
  }
  if (logs > 0) std::printf("  %-14s %s, %zu days\n", "logs/", FormatSize(log_bytes).c_str(), logs);
}

bool BelongsToRoot(const std::filesystem::path& folder) {
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid == 0;
}

constexpr int kNotAgreed = 130;  // as muster's own

// While it lives, a signal that would end the process makes what waits for a line return instead,
// so that an unpacked backup is removed as after a "no".
class SignalsEndTheQuestion {
 public:
  SignalsEndTheQuestion() {
    sigset_t signals;
    sigemptyset(&signals);
    struct sigaction action{};
    action.sa_handler = [](int) {};
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaddset(&signals, kSignals[i]);
      ::sigaction(kSignals[i], &action, &before_[i]);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, &mask_);
  }
  ~SignalsEndTheQuestion() {
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  // False: a signal came first, no matter when.
  bool WaitForInput() const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::ppoll(&input, 1, nullptr, &mask_) == 1;
  }
  SignalsEndTheQuestion(const SignalsEndTheQuestion&) = delete;
  SignalsEndTheQuestion& operator=(const SignalsEndTheQuestion&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_{};
};

bool MeansIt(const std::string& what, const std::filesystem::path& data) {
  EndProgress();
  std::string line;
  {
    const SignalsEndTheQuestion here;
    std::fprintf(stderr, "%sReplace %s? [y/N] ", VisibleLines(what).c_str(),
                 VisibleLine(data.string()).c_str());
    if (!here.WaitForInput() || !std::getline(std::cin, line)) {
      std::fputc('\n', stderr);
      return false;
    }
  }
  const auto word = Trim(line);
  return word == "y" || word == "Y" || word == "yes";
}

}  // namespace

int BackupMain(int argc, char** argv) {
  CLI::App app(
      "Write records, CA, keys and tokens into one file\n"
      "The server may run meanwhile. The file is as secret as the data folder. With records in "
      "PostgreSQL, give the settings by --config; one backup of any server is one of the cluster.",
      "musterd backup");
  app.footer(R"(Examples:
  musterd backup /backup/muster-$(date +%F) --data /var/lib/muster
  musterd backup /backup/muster --config /etc/muster/musterd.yaml
  musterd backup /backup/muster --logs --force   also output; replace the file)");
  BackupOptions options;
  std::string data;
  std::string config;
  app.add_option("FILE", options.file, "The backup to write")->type_name("PATH")->required();
  app.add_option("--data", data, "Data folder (MUSTER_DATA; default: /var/lib/muster)")
      ->type_name("DIR");
  app.add_option("--config", config, "The server's settings (MUSTER_CONFIG)")
      ->type_name("FILE")
      ->envname("MUSTER_CONFIG");
  app.add_flag("--logs", options.logs, "Also the output of tasks");
  app.add_flag("--force", options.force, "Replace the file if it exists");
  if (const auto wrong = ParseWords(app, argc, argv)) return *wrong;
  const auto settings = SettingsOf(data, config);
  if (!settings) return Complain(settings.error());
  options.data = settings->data;
  options.postgres = PostgresOptionsOf(settings->store);
  WarnOfBackends(*settings);
  options.progress = ProgressLine();
  ::umask(077);
  const auto manifest = MakeBackup(options, SystemClock().Read().wall);
  if (!manifest) return Complain(manifest.error());
  EndProgress();
  std::error_code ignored;
  std::printf("%s: %s, checked\n", options.file.c_str(),
              FormatSize(std::filesystem::file_size(options.file, ignored)).c_str());
  PrintParts(*manifest);
  if (!options.logs) std::printf("  without the output of tasks (--logs)\n");
  return 0;
}

int RestoreMain(int argc, char** argv) {
  CLI::App app(
      "Make a data folder from a backup\n"
      "Agents come back by themselves. Work after the backup is lost, and no task runs twice. With "
      "store.postgres in the settings (--config), records and output are written into that "
      "database in one transaction; no server of the cluster may run.",
      "musterd restore");
  app.footer(R"(Examples:
  musterd restore /backup/muster-2026-11-15 --data /var/lib/muster
  musterd restore /backup/muster --data /var/lib/muster --config /etc/muster/musterd.yaml)");
  RestoreOptions options;
  std::string data;
  std::string config;
  app.add_option("FILE", options.file, "The backup to read")->required();
  app.add_option("--data", data, "Data folder to make: empty, or not there")
      ->type_name("DIR")
      ->required();
  app.add_option("--config", config, "The server's settings (MUSTER_CONFIG)")
      ->type_name("FILE")
      ->envname("MUSTER_CONFIG");
  bool yes = false;
  app.add_flag("--force", options.force,
               "Replace the content of the folder and the database; asks at a terminal");
  app.add_flag("--yes", yes, "Do not ask");
  if (const auto wrong = ParseWords(app, argc, argv)) return *wrong;
  const auto settings = SettingsOf(data, config);
  if (!settings) return Complain(settings.error());
  options.data = settings->data;
  options.postgres = PostgresOptionsOf(settings->store);
  WarnOfBackends(*settings);
  options.progress = ProgressLine();
  ::umask(077);
  bool declined = false;
  if (!yes && ::isatty(STDIN_FILENO) != 0)
    options.agreed = [&](const std::string& what) {
      const bool meant = MeansIt(what, options.data);
      declined = !meant;
      return meant;
    };
  const auto restored = RestoreBackup(options, SystemClock().Read().wall);
  if (declined) {
    std::fputs("nothing was done\n", stderr);
    return kNotAgreed;
  }
  if (!restored) return Complain(restored.error());
  EndProgress();
  const auto taken = restored->manifest.facts.find("taken");
  std::printf("%s: restored from the backup of %s, term %llu, new runs are r%llu.1 and on\n",
              options.data.c_str(),
              taken == restored->manifest.facts.end() ? "?" : taken->second.c_str(),
              static_cast<unsigned long long>(restored->term + 1),
              static_cast<unsigned long long>(restored->id_space));
  PrintParts(restored->manifest);
  if (!restored->replaced.empty())
    std::printf(
        "What was there is in %s, with its keys: remove it when it is not needed any more\n",
        restored->replaced.c_str());
  if (!options.postgres.address.empty())
    std::printf(
        "Records%s are in the database, keys in the folder. Start the other servers of the cluster "
        "again too: they have the same keys.\n",
        restored->manifest.facts.contains("logs") && restored->manifest.facts.at("logs") == "yes"
            ? " and output"
            : "");
  if (BelongsToRoot(options.data))
    std::printf("The folder belongs to root. If musterd runs as another user: chown -R USER: %s\n",
                options.data.c_str());
  std::printf(
      "Start the server. Runs that were open in the backup end; hosts that joined after it must "
      "join again;\nwhat was revoked after it is valid again; join tokens of before are void.\n");
  return 0;
}

}  // namespace muster::server
