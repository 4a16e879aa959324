#include "server/ca_command.hpp"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/visible.hpp"
#include "server/ca_rotation.hpp"

namespace muster::server {
namespace {

constexpr const char* kCaHelp =
    "musterd ca: the cluster's CA, and how to change it.\n\n"
    "To change it without any agent joining anew, restart musterd after each step:\n"
    "  musterd ca add     a new CA is trusted too; agents learn of it when they connect\n"
    "  musterd ca use     the new CA signs; agents renew when they connect\n"
    "  musterd ca drop    the old CA is no longer trusted\n\n"
    "Example:\n"
    "  musterd ca add --data /var/lib/muster && systemctl restart musterd";

Result<std::string> List(const std::filesystem::path& data) {
  const auto list = ListCas(data);
  if (!list) return Fail(list.error());
  std::string text;
  for (const auto& ca : *list)
    text += fmt::format("{}{:<8} fact.ca={}  ends {}", text.empty() ? "" : "\n", ca.role, ca.id,
                        FormatTime(ca.ends));
  return text;
}

}  // namespace

int RunCaCommand(int argc, char** argv) {
  CLI::App app(kCaHelp, "musterd ca");
  app.require_subcommand(1);
  app.fallthrough();
  std::string data = "/var/lib/muster";
  app.add_option("--data", data, "Data folder of the server")
      ->envname("MUSTER_DATA")
      ->capture_default_str();
  std::function<Result<std::string>()> step;
  const auto add = [&](const char* name, const char* what,
                       Result<std::string> (*run)(const std::filesystem::path&)) {
    app.add_subcommand(name, what)->callback([&step, &data, run] {
      step = [&data, run] { return run(data); };
    });
  };
  add("list", "The CAs that are trusted, and which one signs", List);
  add("add", "Make a new CA and trust it beside the old one", AddCa);
  add("use", "Let the new CA sign", UseCa);
  add("drop", "Stop trusting every CA but the one that signs", DropCas);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  ::umask(077);
  const auto done = step();
  const auto text = VisibleLines(done ? *done : "musterd: " + done.error().message);
  std::fprintf(done ? stdout : stderr, "%s\n", text.c_str());
  return done ? 0 : 1;
}

}  // namespace muster::server
