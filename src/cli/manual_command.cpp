#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>

#include "cli/context.hpp"
#include "cli/manual.hpp"

namespace muster::cli {
namespace {

Result<> WritePages(const CLI::App& command, const std::filesystem::path& folder) {
  const auto path = folder / (ManualName(command) + ".1");
  std::ofstream file(path, std::ios::binary);
  file << ManualPage(command, MUSTER_VERSION);
  file.close();
  if (!file) return Fail(ErrorCode::kInternal, "cannot write '{}'", path.string());
  for (const auto* below :
       command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    if (auto ok = WritePages(*below, folder); !ok) return ok;
  return {};
}

Result<int> WriteManual(const CLI::App& root, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return Fail(ErrorCode::kInternal, "cannot make '{}': {}", folder, problem.message());
  if (auto ok = WritePages(root, folder); !ok) return Fail(ok.error());
  return 0;
}

}  // namespace

// For packages and tests; people read the pages it writes.
void AddManual(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__man", "Write the manual pages");
  const auto folder = std::make_shared<std::string>();
  command->group("");
  command->add_option("folder", *folder, "Where to")->type_name("DIR")->required();
  command->callback([&app, &context, folder] {
    context.action = [&app, folder] { return WriteManual(app, *folder); };
  });
}

}  // namespace muster::cli
