#pragma once

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

#include "adapters/artifacts/memory_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "agent/identity.hpp"
#include "agent/tasks/task_folder.hpp"
#include "base/text.hpp"
#include "server/api/artifacts.hpp"
#include "support/temp_folder.hpp"
#include "unit/adapters_net/fixture.hpp"

namespace muster::agent {

class StandingClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {1'763'200'000'000}, .mono = {}}; }
};

// A server with the artifact routes, a host's data folder that knows it, and the program that moves
// files between them.
class TransferTest : public net::NetTest {
 protected:
  struct Outcome {
    int code = -1;  // negative: the signal
    std::string out;
    std::string err;
  };
  using Handler = std::function<void(net::HttpRequest, std::shared_ptr<net::HttpExchange>)>;

  TransferTest() {
    services_.ask = [this](const server::api::FileQuestion& question,
                           const std::function<void(Result<>)>& answer) {
      const bool reads = question.kind == server::api::FileQuestion::Kind::kRead;
      const bool may = question.key == HostKey() && (reads ? may_get_ : may_put_);
      answer(may ? Result<>() : Fail(ErrorCode::kDenied, "this host has no open task about it"));
    };
    services_.look_again = [](const std::string&, const std::function<void(bool)>& answer) {
      answer(true);
    };
    router_.Add(server::api::ArtifactRoutes(services_));
    handlers_.streams_body = server::api::StreamsBody;
    serve_ = [this](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
      router_.Handle(std::move(request), std::move(exchange));
    };
    handlers_.on_http = [this](net::HttpRequest request,
                               std::shared_ptr<net::HttpExchange> exchange) {
      const std::string range(
          net::FindHeader(request.headers, request.method == "PUT" ? "Content-Range" : "Range"));
      Handler serve;
      signal_.Update([&] {
        asked_.push_back(request.method + " " + range);
        serve = serve_;
      });
      serve(std::move(request), std::move(exchange));
    };
    std::filesystem::create_directories(folder_.Path() / "place");
  }
  ~TransferTest() override {
    Stop();
    workers_.Stop();
  }

  void SetUp() override {
    Start();
    const auto write = [&](const char* name, const std::string& text) {
      std::ofstream(Data() / name, std::ios::binary) << text;
    };
    std::filesystem::create_directories(Data() / "tasks");
    Identity who;
    who.server = fmt::format("https://127.0.0.1:{}", port_);
    who.host = "web01";
    who.store = "0123";
    write("agent.conf", FormatIdentity(who));
    write("agent.key", certificates_.node_key);
    write("agent.crt", certificates_.node_cert);
    write("ca.pem", certificates_.ca.cert_pem);
  }

  std::filesystem::path Data() const {
    std::filesystem::create_directories(folder_.Path() / "data");
    return folder_.Path() / "data";
  }
  std::string Place(const std::string& name = "") const {
    return (folder_.Path() / "place").string() + (name.empty() ? "" : "/" + name);
  }
  std::string HostKey() const { return *crypto::KeyIdOfCert(certificates_.node_cert); }

  FileEntry Keep(const std::string& content, std::string path = "", std::uint32_t mode = 0644) {
    FileEntry entry{std::move(path), crypto::Sha256(content), content.size(), mode, false};
    auto upload = artifacts_.Begin(entry.sha256, "token op", content.size(), 0);
    if (!upload) return entry;  // it is there already
    EXPECT_TRUE((*upload)->Append(content));
    EXPECT_TRUE((*upload)->Finish());
    return entry;
  }
  static FileEntry Folder(std::string path, std::uint32_t mode = 0755) {
    return {std::move(path), "", 0, mode, true};
  }

  // Answers instead of the routes. What it holds by reference must outlive the server: Stop() it.
  void Serve(Handler handler) {
    signal_.Update([&] { serve_ = std::move(handler); });
  }
  // What the server was asked for so far. Inside a handler read asked_ itself.
  std::vector<std::string> Asked() {
    std::vector<std::string> asked;
    signal_.Update([&] { asked = asked_; });
    return asked;
  }
  void ForgetAsked() {
    signal_.Update([&] { asked_.clear(); });
  }

  // Starts the program for one command.
  pid_t Begin(Command command, const std::string& output) {
    link::Order order;
    order.task = {RunId(++last_run_), Visit(1), 0, HostId(7), Attempt(1)};
    order.host_name = "web01";
    order.command = std::make_shared<const Command>(std::move(command));
    const auto folder = Data() / "tasks" / FolderName(order.task);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "order", std::ios::binary) << EncodeOrderRecord("boot", order);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    for (const auto& [fd, name] : {std::pair{1, ".out"}, std::pair{2, ".err"}})
      ::dup2(::open((output + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), fd);
    ::execl(MUSTER_AGENT_BINARY, "muster-agent", "transfer", folder.c_str(), nullptr);
    ::_exit(127);
  }
  Outcome Await(pid_t pid, const std::string& output) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), Text(output + ".out"),
            Text(output + ".err")};
  }
  Outcome Run(Command command) {
    const std::string output = (folder_.Path() / "output").string();
    return Await(Begin(std::move(command), output), output);
  }
  static Command PushOf(FilePush push) {
    Command command;
    command.push = std::make_shared<const FilePush>(std::move(push));
    return command;
  }
  static Command PullOf(std::vector<std::string> paths) {
    FilePull pull;
    pull.paths = std::move(paths);
    Command command;
    command.pull = std::make_shared<const FilePull>(std::move(pull));
    return command;
  }

  static std::string Text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  static std::string Pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 977);
    return text;
  }

  TempFolder folder_;
  StandingClock clock_;
  MemoryArtifacts artifacts_{clock_};
  server::WorkerPool workers_{2};
  server::FailureWatch failures_{{}, [](const std::string&) {}};
  server::api::Refusals refusals_{failures_, clock_,
                                  [](Duration, const std::function<void()>& work) { work(); }};
  server::Authenticator people_{"secret"};
  server::api::Router router_{people_, refusals_, workers_, clock_};
  server::api::ArtifactServices services_{artifacts_, artifacts_, workers_, {}};
  Handler serve_;
  std::vector<std::string> asked_;  // "GET bytes=0-9"
  std::atomic<bool> may_get_ = true;
  std::atomic<bool> may_put_ = true;
  std::uint64_t last_run_ = 0;
};

}  // namespace muster::agent
