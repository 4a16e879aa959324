// The physical limit beside fanout: one small message out over N mutual-TLS links and an answer
// from each.
//
//   echo [LINKS] [REPEAT]

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"

namespace {

using namespace muster;
constexpr std::chrono::hours kLife{24};
constexpr std::size_t kConnecting = 128;

// Connects `count` links, a few at a time, and sends back whatever comes.
int RunClients(std::uint16_t port, std::size_t count, const net::TlsIdentity& identity) {
  net::EventLoop loop;
  std::vector<std::unique_ptr<net::LinkClient>> links(count);
  std::size_t next = 0;
  std::function<void()> connect = [&] {
    if (next == count) return;
    const std::size_t index = next++;
    links[index] = net::LinkClient::Connect(
        loop, {true, "127.0.0.1", std::to_string(port)}, identity, "/api/v1/link",
        std::chrono::seconds(60),
        {.on_open = [&] { connect(); },
         .on_frame = [&links, index](std::string frame) { links[index]->Send(std::move(frame)); },
         .on_closed = [&loop](const Error&) { loop.Stop(); }});
  };
  for (std::size_t i = 0; i < kConnecting; ++i) connect();
  loop.Run();
  return 0;
}

void RaiseLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 10'000;
  const int repeat = argc > 2 ? std::atoi(argv[2]) : 5;
  RaiseLimit();
  const auto ca = crypto::MakeCa("bench", kLife);
  const auto server_cert = crypto::MakeServerCert(*ca, {"127.0.0.1"}, kLife);
  const std::string key = crypto::GenerateKey();
  const auto cert = crypto::SignRequest(*ca, *crypto::MakeRequest(key, "node"), "node", kLife);

  int ports[2];
  if (pipe(ports) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    std::uint16_t port = 0;
    if (read(ports[0], &port, sizeof port) != sizeof port) return 1;
    return RunClients(port, count, {.ca_pem = ca->cert_pem, .key_pem = key, .cert_pem = *cert});
  }
  net::EventLoop loop;
  std::vector<std::shared_ptr<net::LinkConnection>> links;
  std::vector<double> times;
  std::size_t back = 0;
  std::chrono::steady_clock::time_point began;
  std::chrono::steady_clock::time_point connected;
  const std::string message(60, 'm');
  std::function<void()> send_all = [&] {
    back = 0;
    began = std::chrono::steady_clock::now();
    for (const auto& link : links) link->Send(message);
  };
  net::ServerOptions options;
  options.tls.key_pem = server_cert->key_pem;
  options.tls.chain_pem = server_cert->cert_pem + ca->cert_pem;
  options.tls.client_ca_pem = ca->cert_pem;
  options.limits.link_silence = std::chrono::hours(1);
  auto server = net::Server::Listen(
      loop, options,
      {.on_http = {},
       .on_link =
           [&](std::shared_ptr<net::LinkConnection> link) {
             links.push_back(std::move(link));
             if (links.size() < count) return;
             connected = std::chrono::steady_clock::now();
             loop.After(std::chrono::milliseconds(500), send_all);
           },
       .on_frame =
           [&](net::LinkConnection&, const std::string&) {
             if (++back < count) return;
             times.push_back(
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
             if (static_cast<int>(times.size()) == repeat)
               loop.Stop();
             else
               loop.After(std::chrono::milliseconds(200), send_all);
           },
       .on_link_closed = [](net::LinkConnection&) {},
       .on_warning =
           [](std::string_view text) {
             std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
           }});
  if (!server) return 1;
  const std::uint16_t port = (*server)->Port();
  const auto connecting = std::chrono::steady_clock::now();
  if (write(ports[1], &port, sizeof port) != sizeof port) return 1;
  loop.Run();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::sort(times.begin(), times.end());
  std::printf("METRIC handshakes_seconds %.3f s\n",
              std::chrono::duration<double>(connected - connecting).count());
  std::printf("METRIC echo_seconds %.3f s\n", times[times.size() / 2]);
  links.clear();
  return 0;
}
