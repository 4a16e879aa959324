#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/files/file_options.hpp"
#include "cli/files/local_files.hpp"
#include "cli/files/upload.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kCpExamples = R"(Examples:
  muster cp -t 'web*' kernel.deb /var/tmp/             keeps its name in that folder
  muster cp -t 'web*' app.conf /etc/app.conf --owner root:app --mode 0640
  muster cp -t app=web conf /etc/app                   the folder conf becomes /etc/app
  muster cp -t app=web conf /etc/app/                  … becomes /etc/app/conf
  muster cp -t @db a.sql b.sql /srv/import             several go into a folder that is there
  muster cp -t all image.qcow2 /srv/ --rate 20MB --batches 1,10%

Only what the server does not have is sent to it, and only what a host does not have is sent
there; both go on where they were cut. A file is replaced whole or not at all.)";

struct CpFlags {
  FileOptions options;
  std::vector<std::string> paths;
  std::string mode;
  std::string owner;
};

json::object PushOf(const CopyPlan& plan) {
  json::object push{{"files", FilesView(plan)}, {"to", plan.to}};
  if (plan.tree) push["tree"] = true;
  if (!plan.name.empty()) push["name"] = plan.name;
  return push;
}

Result<int> Copy(const Context& context, CpFlags& flags) {
  if (flags.paths.size() < 2)
    return Fail(
        ErrorCode::kInvalid,
        "expected what to copy and where to; for example: muster cp -t web1 app.conf /etc/");
  const std::string destination = flags.paths.back();
  flags.paths.pop_back();
  const auto rate = RateOf(flags.options);
  if (!rate) return Fail(rate.error());
  auto body = RunFrame(flags.options.run);
  if (!body) return Fail(body.error());
  std::vector<std::string> left_out;
  auto plan = PlanCopy(flags.paths, destination, left_out);
  if (!plan) return Fail(plan.error());
  for (const auto& why : left_out) context.Say("left out: " + why);
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (auto hashed = HashAll(*plan); !hashed) return Fail(hashed.error());
  if (!flags.options.start.dry_run)
    if (auto sent = UploadAll(context, *api, *plan); !sent) return Fail(sent.error());
  json::object push = PushOf(*plan);
  if (!flags.mode.empty()) push["mode"] = flags.mode;
  if (!flags.owner.empty()) push["owner"] = flags.owner;
  if (*rate > 0) push["rate"] = *rate;
  (*body)["push"] = std::move(push);
  return StartAndFollow(context, *api, *body, flags.options.start);
}

}  // namespace

void AddCp(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("cp",
                                     "Copy files and folders to hosts\n"
                                     "muster cp -t EXPR [OPTIONS] SOURCE... DESTINATION");
  const auto flags = std::make_shared<CpFlags>();
  command->footer(kCpExamples);
  command->add_option("paths", flags->paths, "What to copy, and last where to on the hosts")
      ->type_name("FILE");
  command->add_option("--mode", flags->mode, "Of every file, in octal (default: as it is here)")
      ->type_name("MODE");
  command
      ->add_option("--owner", flags->owner,
                   "USER, USER:GROUP or :GROUP (default: the user of the transfer)")
      ->type_name("OWNER");
  AddFileOptions(*command, flags->options);
  command->add_flag("-d,--detach", flags->options.start.detach, "Start it, print its id and leave");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Copy(context, *flags); }; });
}

}  // namespace muster::cli
