#include <CLI/CLI.hpp>

#include "cli/context.hpp"
#include "help/manual.hpp"

namespace muster::cli {
namespace {

constexpr const char* kRootSections = R"(.SH "EXIT STATUS"
.TP
.B 0
All well.
.TP
.B 1
A host failed, timed out or was killed; or the thing is in a state that does not allow it.
.TP
.B 2
Usage.
.TP
.B 3
Denied.
.TP
.B 4
Not found, no match.
.TP
.B 5
The server is out of reach.
.TP
.B 6
Some hosts are unreachable, refused or lost; 1 wins over 6.
.TP
.B 7
The run is paused or waits for an approval, and there is no terminal.
.TP
.B 8
The result could not be written to standard output.
.TP
.B 130
Detached or interrupted.
.SH ENVIRONMENT
.TP
.BR MUSTER_SERVER ", " MUSTER_TOKEN ", " MUSTER_TOKEN_FILE ", " MUSTER_CA ", " MUSTER_CONTEXT
As the options of the same names. Options win over these, and these over the context in use.
.TP
.B MUSTER_UTC
Set to 1, shows times in UTC, as \-\-utc.
.TP
.B TZ
The local time zone.
.TP
.BR MUSTER_PAGER ", " PAGER
The pager for long lists, by default
.BR "less \-FRX" ;
empty or
.B cat
is none.
.TP
.B NO_COLOR
Use no colours, unless asked for with \-\-color always.
.SH FILES
.TP
.I ~/.config/muster/contexts.yaml
Servers and tokens of
.BR "muster login" ;
below XDG_CONFIG_HOME when that is set.
)";

}  // namespace

// For packages and tests; people read the pages it writes.
void AddManual(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__man", "Write the manual pages");
  const auto folder = std::make_shared<std::string>();
  command->group("");
  command->add_option("folder", *folder, "Where to")->type_name("DIR")->required();
  command->callback([&app, &context, folder] {
    context.action = [&app, folder]() -> Result<int> {
      const auto written =
          help::WriteManual(app, {.version = MUSTER_VERSION, .sections = kRootSections}, *folder);
      if (!written) return Fail(written.error());
      return 0;
    };
  });
}

}  // namespace muster::cli
