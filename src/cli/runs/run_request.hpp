#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace muster::cli {

// What `muster run` was given, as text.
struct RunOptions {
  std::string targets;
  std::string exclude;
  bool ignore_missing = false;
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
  std::vector<std::string> words;  // after "--"
  std::string script_file;         // "-" is stdin
  std::string interpreter;
  std::string stdin_file;  // "-" is stdin
  std::vector<std::string> env;
  std::vector<std::string> secrets;  // VARIABLE=NAME
  std::string user;
  std::string folder;
  std::string timeout = "1h";
  std::string grace = "10s";
  std::string max_output;  // "" is the run's share
  std::string leftovers = "keep";
  std::string memory;
  std::string cpu;
  std::uint32_t processes = 0;
  std::uint32_t concurrency = 0;
  std::string batches;
  std::string max_failures = "0";
  std::string max_unreachable;
  std::string wait_offline = "15s";
  std::string title;
  std::string reason;
};

// Contents of the files the options name, read beforehand.
struct RunInputs {
  std::string script;
  std::string stdin_data;
};

// Everything of the body but what is done: hosts, limits, user, title, reason.
Result<boost::json::object> RunFrame(const RunOptions& options);

// The body of POST /runs. One word is a line for /bin/sh, several are executed as they are;
// kInvalid says what to write instead when that cannot be what is meant.
Result<boost::json::value> RunBody(const RunOptions& options, const RunInputs& inputs);

}  // namespace muster::cli
