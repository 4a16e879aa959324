#include "server/traces/settings.hpp"

#include "server/traces/trace.hpp"

namespace muster::server {
namespace {

Result<> CheckUrl(const std::string& text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme) && text.size() > scheme.size()) return {};
  if (text.empty()) return {};
  return Fail(ErrorCode::kInvalid,
              "'{}' is not a collector's address; write for example "
              "http://127.0.0.1:4318/v1/traces",
              text);
}

}  // namespace

settings::Setting Describe(TraceSettings& traces) {
  using namespace settings;
  return settings::Section(
             "traces", "Where traces of ended runs go.",
             {Text("url", traces.url, "A collector's, OTLP over HTTP; empty sends nothing.")
                  .Checked(CheckUrl),
              Text("headers_file", traces.headers_file,
                   "File with lines 'Name: value' that go with each request."),
              Text("ca_file", traces.ca_file,
                   "Certificates to trust, PEM, instead of the system's."),
              Number("sample", traces.sample,
                     "Percent of the runs that succeeded; the others all go.", 0, 100),
              Number("tasks", traces.tasks,
                     "Tasks of a run that have spans: failed ones first, then the longest.", 0,
                     TraceScope::kMostTasks)})
      .Live();
}

}  // namespace muster::server
