#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster::cli {

// A server one has logged in to, under a name of one's own.
struct SavedContext {
  std::string name;
  std::string server;
  std::string token;
  std::string ca_file;  // name of a file beside contexts.yaml; "" trusts the system's CAs
};

// The contexts of `muster login`: FOLDER/contexts.yaml, readable by its owner only, and the CA
// files beside it. Changes are in memory until Save, which replaces the file as a whole.
class Contexts {
 public:
  // $XDG_CONFIG_HOME/muster, else ~/.config/muster; empty when there is neither.
  static std::filesystem::path DefaultFolder();

  // No file is no contexts. kInvalid: the file cannot be read, is damaged, or others may read it.
  static Result<Contexts> Load(std::filesystem::path folder);
  Result<> Save() const;

  const std::vector<SavedContext>& All() const { return all_; }
  const SavedContext* Find(std::string_view name) const;
  // The one in use when nothing else is said; "" is none.
  const std::string& Current() const { return current_; }

  // Adds or replaces it; writes `ca_pem` beside, unless empty. kInvalid: the name is no good.
  Result<> Put(SavedContext context, const std::string& ca_pem);
  // kNotFound when there is no such context; the message names those that are.
  Result<> Use(std::string_view name);
  Result<> Remove(std::string_view name);

  // Where the CA file of a context is; "" when it has none.
  std::string CaPath(const SavedContext& context) const;
  static constexpr const char* kFile = "contexts.yaml";
  std::filesystem::path File() const { return folder_ / kFile; }

  Error NoSuch(std::string_view name) const;

 private:
  explicit Contexts(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  std::vector<SavedContext> all_;
  std::string current_;
};

// "https://muster.example:8440" -> "muster.example"; another port is part of the name.
std::string ContextNameFor(std::string_view url);

}  // namespace muster::cli
