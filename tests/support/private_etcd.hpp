#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/net/client.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/loopback.hpp"
#include "support/temp_folder.hpp"

namespace muster {

// An etcd of one or more members for one test, on free ports of loopback and in a folder of its
// own. Gone with the test, also when that crashes. Made in the main thread.
class PrivateEtcd {
 public:
  struct Options {
    std::size_t members = 1;
    std::vector<std::string> flags = {};  // for each
    net::TlsIdentity tls = {};            // with which the members are reached; none when empty
  };

  PrivateEtcd() : PrivateEtcd(Options{}) {}
  explicit PrivateEtcd(Options options) : options_(std::move(options)) {
    // Somebody else may have taken a port meanwhile.
    for (int tries = 0; tries < 3 && !Begin(); ++tries) members_.clear();
    if (members_.empty()) std::abort();
  }

  std::string Url(std::size_t member) const {
    const char* scheme = options_.tls.ca_pem.empty() ? "http" : "https";
    return fmt::format("{}://127.0.0.1:{}", scheme, client_ports_[member]);
  }
  std::vector<std::string> Urls() const {
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < members_.size(); ++i) urls.push_back(Url(i));
    return urls;
  }
  std::uint16_t Port(std::size_t member) const { return client_ports_[member]; }

  void Kill(std::size_t member) { members_[member]->Kill(); }
  void Start(std::size_t member) {
    members_[member] = std::make_unique<ChildProcess>(Words(member), Log(member));
  }
  // Forgets all it had; it is not running.
  void Wipe(std::size_t member) { std::filesystem::remove_all(Data(member)); }
  void Send(std::size_t member, int signal) const { members_[member]->Send(signal); }

  // The status of its answer; 0 when there was none.
  int Post(const std::string& path, const std::string& body, std::size_t member = 0) const {
    net::HttpClient client(*net::ParseEndpoint(Url(member)), options_.tls, std::chrono::seconds(2));
    const auto answer = client.Call({.method = "POST", .target = path, .body = body});
    return answer ? answer->status : 0;
  }
  // A majority answers.
  bool Ready(std::size_t member = 0) const {
    return Post("/v3/kv/range", R"({"key":"YQ=="})", member) != 0;
  }

 private:
  bool Begin() {
    client_ports_ = FreePorts(2 * options_.members);
    peer_ports_.assign(client_ports_.begin() + static_cast<long>(options_.members),
                       client_ports_.end());
    for (std::size_t i = 0; i < options_.members; ++i)
      members_.push_back(std::make_unique<ChildProcess>(Words(i), Log(i)));
    bool died = false;
    const bool ready = Eventually([&] {
      for (auto& member : members_) died = died || !member->Runs();
      bool all = true;
      for (std::size_t i = 0; i < members_.size(); ++i) all = all && !died && Ready(i);
      return all || died;
    });
    return ready && !died;
  }

  std::string Log(std::size_t member) const {
    return (folder_.Path() / fmt::format("log{}", member)).string();
  }
  std::string Data(std::size_t member) const {
    return (folder_.Path() / fmt::format("data-{}", client_ports_[member])).string();
  }
  std::string PeerUrl(std::size_t member) const {
    return fmt::format("http://127.0.0.1:{}", peer_ports_[member]);
  }
  std::vector<std::string> Words(std::size_t member) const {
    std::string all;
    for (std::size_t i = 0; i < options_.members; ++i)
      all += fmt::format("{}m{}={}", i == 0 ? "" : ",", i, PeerUrl(i));
    std::vector<std::string> words{"/usr/bin/etcd",
                                   "--name",
                                   fmt::format("m{}", member),
                                   "--data-dir",
                                   Data(member),
                                   "--listen-client-urls",
                                   Url(member),
                                   "--advertise-client-urls",
                                   Url(member),
                                   "--listen-peer-urls",
                                   PeerUrl(member),
                                   "--initial-advertise-peer-urls",
                                   PeerUrl(member),
                                   "--initial-cluster",
                                   all,
                                   "--unsafe-no-fsync"};
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    return words;
  }

  const Options options_;
  TempFolder folder_;
  std::vector<std::uint16_t> client_ports_;
  std::vector<std::uint16_t> peer_ports_;
  std::vector<std::unique_ptr<ChildProcess>> members_;
};

}  // namespace muster
