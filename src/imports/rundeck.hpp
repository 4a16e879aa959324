#pragma once

#include <span>
#include <string>
#include <vector>

#include "imports/findings.hpp"

// Jobs that Rundeck exports as YAML, turned into `kind: job` documents. What cannot be said in
// Muster, or means something else there, is reported with its place; nothing is dropped in silence.
namespace muster::imports {

struct RundeckNote {
  Carried carried = Carried::kOver;
  documents::Position at;
  std::string sentence;
};

struct RundeckJob {
  std::string file;
  documents::Position at;
  std::string title;  // "ops/Restart web", as Rundeck calls it
  std::string name;   // as Muster will
  std::string text;   // the document; with a schedule also that of a trigger, which is paused
  std::vector<RundeckNote> notes;
};

struct RundeckJobs {
  std::vector<RundeckJob> jobs;
  std::vector<documents::Problem> problems;  // of files that are no exports; with one, no jobs
};

constexpr std::size_t kMostRundeckJobs = 1000;

// Reads files that are imported together, so that their jobs may refer to each other. Every text is
// a document that Muster's parser takes.
RundeckJobs ReadRundeck(std::span<const documents::Source> sources);

// For people: what became of the job, part by part.
std::string ReportOf(const RundeckJob& job);

}  // namespace muster::imports
