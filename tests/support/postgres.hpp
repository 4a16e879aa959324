#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <libpq-fe.h>
#include <memory>
#include <netinet/in.h>
#include <pwd.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/temp_folder.hpp"

namespace muster {

// A PostgreSQL of this process alone, in a temporary folder, on a socket there and on a loopback
// port, there with TLS too. It ends with the process, however that ends. Throws when the server
// does not start.
class PrivatePostgres {
 public:
  enum class Disk { kFast, kDurable };  // kFast: without fsync and vacuum

  explicit PrivatePostgres(Disk disk = Disk::kFast) : disk_(disk) {
    Give(folder_.Path());
    Wait(Launch({"cp", "-a", Template(), Data()}));
    Start();
  }
  ~PrivatePostgres() { Stop(); }
  PrivatePostgres(const PrivatePostgres&) = delete;
  PrivatePostgres& operator=(const PrivatePostgres&) = delete;

  // Where it listens; over the socket.
  std::string Address() const {
    return "host=" + folder_.Path().string() + " port=" + std::to_string(port_) +
           " user=muster dbname=postgres";
  }
  std::string LoopbackAddress() const {
    return "postgres://muster@127.0.0.1:" + std::to_string(port_) + "/postgres";
  }
  // What vouches for its certificate, which is for 127.0.0.1 and no other name.
  std::string RootFile() const { return Data() + "/cert.pem"; }
  // An address at which a schema of its own is the only one.
  std::string NewSchema() {
    static std::atomic<int> count = 0;
    const std::string name = "s" + std::to_string(++count);
    Sql("CREATE SCHEMA " + name);
    return Address() + " options='-c search_path=" + name + "'";
  }
  // Runs SQL as the database's owner at `address` and gives back the first value of its answer.
  static std::string Sql(const std::string& sql, const std::string& address) {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> session(PQconnectdb(address.c_str()),
                                                               PQfinish);
    const std::unique_ptr<PGresult, decltype(&PQclear)> answer(PQexec(session.get(), sql.c_str()),
                                                               PQclear);
    const auto status = PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(sql + ": " + PQerrorMessage(session.get()));
    return PQntuples(answer.get()) > 0 ? PQgetvalue(answer.get(), 0, 0) : "";
  }
  std::string Sql(const std::string& sql) const { return Sql(sql, Address()); }

  void Start() {
    for (int tries = 0; tries < 10; ++tries) {
      if (port_ == 0) port_ = FreePort();
      server_ = Launch(ServerCommand());
      if (Answers()) return;
      Stop();
      if (!ever_answered_) port_ = 0;  // someone else took it
    }
    throw std::runtime_error("PostgreSQL does not start: " + OutputIn(folder_.Path()));
  }
  // As if the machine had lost power, but for what the disk already has.
  void Kill() {
    if (server_ <= 0) return;
    kill(server_, SIGQUIT);
    waitpid(server_, nullptr, 0);
    server_ = 0;
  }
  pid_t Server() const { return server_; }

 private:
  std::string Data() const { return (folder_.Path() / "data").string(); }

  // A folder of data as it is when nothing was done to it yet; made once, as that takes its time.
  static std::string Template() {
    struct Made {
      Made() {
        Give(folder.Path());
        const auto run = [this](const std::vector<std::string>& command) {
          Wait(Launch(command, folder.Path()), folder.Path());
        };
        run({Program("initdb"), "-D", data, "-U", "muster", "-A", "trust", "-E", "UTF8",
             "--locale=C", "--no-sync", "--no-instructions"});
        run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", data + "/key.pem", "-out", data + "/cert.pem"});
      }
      TempFolder folder;
      std::string data = (folder.Path() / "data").string();
    };
    static const Made made;
    return made.data;
  }
  static std::string OutputIn(const std::filesystem::path& folder) {
    std::ifstream file(folder / "output");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Stop() { Kill(); }

  std::vector<std::string> ServerCommand() const {
    const std::string port = std::to_string(port_);
    std::vector<std::string> command{Program("postgres"),
                                     "-D",
                                     Data(),
                                     "-k",
                                     folder_.Path().string(),
                                     "-h",
                                     "127.0.0.1",
                                     "-p",
                                     port,
                                     "-c",
                                     "shared_buffers=64MB",
                                     "-c",
                                     "max_connections=60",
                                     "-c",
                                     "max_wal_size=512MB",
                                     "-c",
                                     "ssl=on",
                                     "-c",
                                     "ssl_cert_file=cert.pem",
                                     "-c",
                                     "ssl_key_file=key.pem"};
    if (disk_ == Disk::kFast)
      for (const char* word :
           {"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"})
        command.emplace_back(word);
    return command;
  }

  // Debian keeps the server's programs out of PATH.
  static std::string Program(const std::string& name) {
    std::vector<std::filesystem::path> versions;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none))
      versions.push_back(entry.path());
    std::ranges::sort(versions);
    return versions.empty() ? name : (versions.back() / "bin" / name).string();
  }

  // The server refuses to be root.
  static const passwd* Owner() {
    if (geteuid() != 0) return nullptr;
    const passwd* owner = getpwnam("postgres");
    return owner != nullptr ? owner : getpwnam("nobody");
  }
  static void Give(const std::filesystem::path& folder) {
    if (const passwd* owner = Owner())
      if (chown(folder.c_str(), owner->pw_uid, owner->pw_gid) != 0)
        throw std::runtime_error("cannot give away " + folder.string());
  }

  pid_t Launch(const std::vector<std::string>& command) const {
    return Launch(command, folder_.Path());
  }
  static pid_t Launch(const std::vector<std::string>& command,
                      const std::filesystem::path& folder) {
    const passwd* owner = Owner();
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const std::string output = (folder / "output").string();
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
    setsid();
    if (owner != nullptr &&
        (setgroups(0, nullptr) != 0 || setgid(owner->pw_gid) != 0 || setuid(owner->pw_uid) != 0))
      _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent || chdir(folder.c_str()) != 0) _exit(126);
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) _exit(126);
    setenv("LC_ALL", "C", 1);
    execvp(words[0], words.data());
    _exit(127);
  }
  void Wait(pid_t child) const { Wait(child, folder_.Path()); }
  static void Wait(pid_t child, const std::filesystem::path& folder) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error("PostgreSQL cannot be set up: " + OutputIn(folder));
  }

  static std::uint16_t FreePort() {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(probe, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
    close(probe);
    return ntohs(address.sin_port);
  }

  // Waits until it takes sessions; false when it ended instead.
  bool Answers() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      if (PQping(Address().c_str()) == PQPING_OK) return ever_answered_ = true;
      if (waitpid(server_, nullptr, WNOHANG) == server_) {
        server_ = 0;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  const Disk disk_;
  TempFolder folder_;
  std::uint16_t port_ = 0;
  bool ever_answered_ = false;
  pid_t server_ = 0;
};

// The one of this test program, for tests that leave it as it is.
inline PrivatePostgres& SharedPostgres() {
  static PrivatePostgres postgres;
  return postgres;
}

}  // namespace muster
