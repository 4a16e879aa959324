#include "agent/identity.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/file.h>
#include <system_error>
#include <utility>

#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/pki.hpp"
#include "adapters/files/own_folder.hpp"
#include "agent/host/clocks.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

// More than a cluster has servers; those of long ago are forgotten.
constexpr std::size_t kMostWelcome = 8;

// A URL a line; none when the file cannot be read.
std::vector<std::string> ReadUrls(const std::string& path) {
  std::vector<std::string> urls;
  const auto text = ReadFile(path);
  if (!text) return urls;
  for (const auto line : Split(*text, '\n'))
    if (const auto url = Trim(line); !url.empty()) urls.emplace_back(url);
  return urls;
}

template <typename Who>
auto Fields(Who& who) {
  return std::array{std::pair{"server", &who.server},   std::pair{"host", &who.host},
                    std::pair{"cluster", &who.cluster}, std::pair{"store", &who.store},
                    std::pair{"machine", &who.machine}, std::pair{"servers", &who.servers}};
}

constexpr Duration kLockPatience{1000};

Result<Fd> LockFolder(const std::string& folder) {
  auto fd = OpenFile(folder + "/lock", O_RDWR | O_CREAT);
  if (!fd) return fd;
  // A shim that is just being started shares the lock of an agent that was killed, until its exec.
  const MonoTime deadline = BootNow() + kLockPatience;
  while (::flock(fd->Get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK && BootNow() < deadline) {
      ::poll(nullptr, 0, 20);
      continue;
    }
    if (errno != EWOULDBLOCK)
      return Fail(ErrorCode::kUnavailable, "lock {}: {}", folder, ErrnoText(errno));
    return Fail(ErrorCode::kConflict,
                "another agent uses {}; stop it, or give this one its own --data folder", folder);
  }
  return fd;
}

}  // namespace

std::string FormatIdentity(const Identity& identity) {
  std::string text = "# Written by muster-agent.\n";
  for (const auto& [name, value] : Fields(identity)) {
    if (value == &identity.servers && value->empty()) continue;
    text += fmt::format("{} = {}\n", name, *value);
  }
  return text;
}

Result<Identity> ParseIdentity(std::string_view text) {
  Identity identity;
  int number = 0;
  for (const auto raw : Split(text, '\n')) {
    ++number;
    const auto line = Trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos)
      return Fail(ErrorCode::kInvalid, "line {}: expected 'key = value'", number);
    const auto key = Trim(line.substr(0, equals));
    // Keys of a newer agent are none of ours.
    for (const auto& [name, value] : Fields(identity))
      if (key == name) *value = Trim(line.substr(equals + 1));
  }
  if (identity.store.empty()) return Fail(ErrorCode::kInvalid, "'store' is missing");
  return identity;
}

std::vector<std::string> SplitServers(std::string_view text) {
  std::vector<std::string> servers;
  for (const auto part : Split(text, ','))
    if (const auto server = Trim(part); !server.empty()) servers.emplace_back(server);
  return servers;
}

Result<KnownServers> LoadServers(const std::string& path) {
  const auto text = ReadFile(path + "/agent.conf");
  if (!text) return Fail(text.error());
  const auto who = ParseIdentity(*text);
  if (!who) return Fail(who.error());
  // The store is this host's own for as long as its key is.
  KnownServers known{.seed = who->store, .given = SplitServers(who->servers), .told = {}};
  if (known.given.empty()) known.given = {who->server};
  known.told = ReadUrls(path + "/servers");
  known.welcome = ReadUrls(path + "/welcome");
  return known;
}

namespace {

constexpr std::string_view kTermFile = "proven_term";

}  // namespace

Result<DataFolder> DataFolder::Open(const std::string& path, const std::string& machine_id_file) {
  std::error_code problem;
  DataFolder folder;
  folder.path_ = std::filesystem::absolute(path, problem).string();
  // Passable for others: a task's user must reach its script below.
  if (auto made = files::MakeOwnFolder(folder.path_, 0711); !made) return Fail(made.error());
  auto lock = LockFolder(folder.path_);
  if (!lock) return Fail(lock.error());
  folder.lock_ = std::move(*lock);
  const auto machine = ReadFile(machine_id_file);
  if (auto loaded = folder.LoadIdentity(machine ? std::string(Trim(*machine)) : ""); !loaded)
    return Fail(loaded.error());
  const auto session = folder.LoadNumber("session");
  if (!session) return Fail(session.error());
  const auto term = folder.LoadNumber(kTermFile);
  if (!term) return Fail(term.error());
  folder.session_ = *session;
  folder.term_ = Term(*term);
  return folder;
}

Result<> DataFolder::LoadIdentity(const std::string& machine) {
  const auto text = ReadFile(File("agent.conf"));
  if (!text && text.error().code != ErrorCode::kNotFound) return Fail(text.error());
  if (!text) {
    identity_.store = ToHex(crypto::RandomBytes(16));
    identity_.machine = machine;
    return ReplaceFile(File("agent.conf"), FormatIdentity(identity_), 0600, Durability::kSynced);
  }
  auto identity = ParseIdentity(*text);
  if (!identity)
    return Fail(ErrorCode::kInvalid, "{}: {}", File("agent.conf"), identity.error().message);
  identity_ = std::move(*identity);
  if (identity_.machine.empty() || machine.empty() || identity_.machine == machine) return {};
  return Fail(
      ErrorCode::kConflict,
      "{0} was copied from another machine (made on machine-id {1}, this is {2}). Two "
      "machines must not share one key. To join this one as a new host: remove {0}, make a token "
      "with 'muster agents invite' and start muster-agent with --server and --join",
      path_, identity_.machine, machine);
}

bool DataFolder::Joined() const { return !identity_.server.empty() && Exists(File("agent.crt")); }

Result<> DataFolder::SaveJoin(const std::vector<std::string>& servers, const std::string& host,
                              const std::string& cluster, const Credentials& credentials) {
  // They may be another cluster's.
  if (auto forgotten = SaveServers({}); !forgotten) return forgotten;
  ::unlink(File("welcome").c_str());
  const std::array files = {std::pair{"agent.key", &credentials.key_pem},
                            std::pair{"ca.pem", &credentials.ca_pem},
                            std::pair{"agent.crt", &credentials.cert_pem}};
  for (const auto& [name, pem] : files)
    if (auto saved = ReplaceFile(File(name), *pem, 0600, Durability::kSynced); !saved) return saved;
  Identity joined = identity_;
  joined.server = servers.front();
  joined.servers = servers.size() > 1 ? fmt::format("{}", fmt::join(servers, ",")) : "";
  joined.host = host;
  joined.cluster = cluster;
  auto saved = ReplaceFile(File("agent.conf"), FormatIdentity(joined), 0600, Durability::kSynced);
  if (saved) identity_ = std::move(joined);
  return saved;
}

Result<> DataFolder::SaveServers(const std::vector<std::string>& told) {
  if (told.empty() && !Exists(File("servers"))) return {};
  return ReplaceFile(File("servers"), fmt::format("{}\n", fmt::join(told, "\n")), 0600,
                     Durability::kSynced);
}

Result<> DataFolder::SaveWelcome(const std::string& server) {
  std::vector<std::string> kept = ReadUrls(File("welcome"));
  std::erase(kept, server);
  kept.insert(kept.begin(), server);
  if (kept.size() > kMostWelcome) kept.resize(kMostWelcome);
  return ReplaceFile(File("welcome"), fmt::format("{}\n", fmt::join(kept, "\n")), 0600,
                     Durability::kSynced);
}

Result<std::string> DataFolder::OwnKey() {
  auto known = ReadFile(File("agent.key"));
  if (known || known.error().code != ErrorCode::kNotFound) return known;
  std::string made = crypto::GenerateKey();
  if (auto saved = ReplaceFile(File("agent.key"), made, 0600, Durability::kSynced); !saved)
    return Fail(saved.error());
  return made;
}

bool DataFolder::CertificateEnded(WallTime now) const {
  const auto cert = ReadFile(File("agent.crt"));
  if (!cert) return false;
  const auto validity = crypto::ValidityOf(*cert);
  return validity && validity->ends <= now;
}

Result<> DataFolder::SaveTrust(const std::string& ca_pem) {
  return ReplaceFile(File("ca.pem"), ca_pem, 0600, Durability::kSynced);
}

Result<> DataFolder::SaveCertificate(const std::string& cert_pem) {
  return ReplaceFile(File("agent.crt"), cert_pem, 0600, Durability::kSynced);
}

Result<Credentials> DataFolder::LoadCredentials() const {
  Credentials credentials;
  const std::array files = {std::pair{"agent.key", &credentials.key_pem},
                            std::pair{"ca.pem", &credentials.ca_pem},
                            std::pair{"agent.crt", &credentials.cert_pem}};
  for (const auto& [name, pem] : files) {
    auto text = ReadFile(File(name));
    if (!text) return Fail(text.error());
    *pem = std::move(*text);
  }
  return credentials;
}

Result<std::uint64_t> DataFolder::NextSession() {
  if (auto saved = SaveNumber("session", session_ + 1); !saved) return Fail(saved.error());
  return ++session_;
}

Result<> DataFolder::RaiseTerm(Term term) {
  if (term <= term_) return {};
  auto saved = SaveNumber(kTermFile, term.value);
  if (saved) term_ = term;
  return saved;
}

Result<std::uint64_t> DataFolder::LoadNumber(std::string_view name) const {
  const auto text = ReadFile(File(name));
  if (!text && text.error().code == ErrorCode::kNotFound) return 0;
  if (!text) return Fail(text.error());
  const auto digits = Trim(*text);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem == std::errc{} && end == digits.data() + digits.size()) return number;
  return Fail(ErrorCode::kInvalid, "{}: expected a number", File(name));
}

Result<> DataFolder::SaveNumber(std::string_view name, std::uint64_t number) const {
  return ReplaceFile(File(name), fmt::format("{}\n", number), 0600, Durability::kSynced);
}

}  // namespace muster::agent
