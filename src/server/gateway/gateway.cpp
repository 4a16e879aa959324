#include "server/gateway/gateway.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "link/papers.hpp"
#include "server/gateway/privileges.hpp"

namespace muster::server {

Gateway::Gateway(net::EventLoop& loop, Store& store, LogStore& logs, const Clock& clock,
                 WorkerPool& workers, Stored stored)
    : loop_(loop),
      store_(store),
      logs_(logs),
      clock_(clock),
      workers_(workers),
      intake_(logs,
              {.reports = [this](engine::NodeReports reports) { submit_(std::move(reports)); },
               .send =
                   [this](LinkId link, link::ServerFrame frame) {
                     loop_.Post([this, link, frame = std::move(frame)] { SendNow(link, frame); });
                   },
               .close = [this](LinkId link, const Error& why) { CloseSoon(link, why); },
               .stored = std::move(stored)}) {}

void Gateway::OnLink(std::shared_ptr<net::LinkConnection> connection) {
  const LinkId id(connection->Id());
  spdlog::debug("link opened link={} remote={}", id.value, connection->Remote());
  links_[id] = {.connection = std::move(connection)};
  link_count_ = links_.size();
}

void Gateway::OnClosed(net::LinkConnection& connection) {
  const LinkId id(connection.Id());
  if (links_.erase(id) == 0) return;
  link_count_ = links_.size();
  spdlog::debug("link ended link={} remote={}", id.value, connection.Remote());
  submit_(engine::LinkClosed{id});
}

void Gateway::OnFrame(net::LinkConnection& connection, const std::string& bytes) {
  const LinkId id(connection.Id());
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  auto frame = link::DecodeNodeFrame(bytes);
  if (!frame) return CloseNow(id, frame.error().message);
  Link& link = found->second;
  DropUnpermitted(*frame, link.host);
  if (frame->hello) {
    link.host = {};
    link.outdated = Outdated(frame->hello->facts);
    return TakeHello(link, std::move(*frame->hello));
  }
  if (frame->beat) {
    link::ServerFrame answer;
    answer.beat = link::BeatAnswer{frame->beat->sent_at, clock_.Read().mono.ms};
    connection.Send(encoder_.Encode(answer));
  }
  if (!frame->renew.empty()) TakeRenewal(link, std::move(frame->renew));
  if (frame->chunks.empty() && frame->reports.empty()) return;
  intake_.Take(id, link.host, std::move(*frame));
}

void Gateway::TakeHello(Link& link, link::Hello hello) {
  engine::NodeHello command;
  command.link = LinkId(link.connection->Id());
  command.key = link.connection->PeerKey();
  command.address = link.connection->Remote();
  command.hello = std::move(hello);
  spdlog::debug("hello link={} version={} session={} tasks={}", command.link.value,
                command.hello.version, command.hello.session, command.hello.tasks.size());
  if (command.hello.tasks.empty()) return submit_(std::move(command));
  const bool posted = workers_.Post(
      [this, command = std::move(command)]() mutable {
        std::vector<TaskKey> keys;
        for (const auto& held : command.hello.tasks) keys.push_back(held.task);
        auto records = store_.FindTasks(keys);
        if (!records) return CloseSoon(command.link, records.error());
        command.looked_at = records->commit;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto durable = logs_.DurableEnd(keys[i]);
          if (!durable) return CloseSoon(command.link, durable.error());
          command.looked.push_back({std::move(records->value[i]), *durable});
        }
        submit_(std::move(command));
      },
      "look up a node's tasks");
  if (!posted) CloseNow(LinkId(link.connection->Id()), "the server is too busy");
}

bool Gateway::Outdated(const Labels& facts) const {
  const auto ca = facts.find(link::kFactCa);
  if (ca == facts.end()) return false;  // it does not renew
  if (ca->second != link::ShortId(office_.papers.signer)) return true;
  if (office_.papers.ca_pem.empty()) return false;
  const auto trusts = facts.find(link::kFactTrusts);
  return trusts == facts.end() || trusts->second != office_.trusts;
}

void Gateway::TakeRenewal(Link& link, std::string request_pem) {
  if (!office_.sign) return;
  const LinkId id(link.connection->Id());
  workers_.Post([this, id, request_pem = std::move(request_pem), key = link.connection->PeerKey(),
                 host = link.name] {
    auto cert = office_.sign(request_pem, key, host);
    if (!cert) return CloseSoon(id, cert.error());
    spdlog::info("certificate renewed host={}", host);
    link::ServerFrame frame;
    frame.papers = office_.papers;
    frame.papers->cert_pem = std::move(*cert);
    loop_.Post([this, id, frame = std::move(frame)] { SendNow(id, frame); });
  });
}

void Gateway::SendNow(LinkId link, const link::ServerFrame& frame) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  Link& to = found->second;
  if (frame.welcome) {
    to.host = frame.welcome->host;
    to.name = frame.welcome->host_name;
  }
  to.connection->Send(encoder_.Encode(frame));
  if (!frame.welcome || !to.outdated) return;
  link::ServerFrame papers;
  papers.papers = office_.papers;
  to.connection->Send(encoder_.Encode(papers));
}

void Gateway::CloseSoon(LinkId link, const Error& why) {
  loop_.Post([this, link, message = why.message] { CloseNow(link, message); });
}

void Gateway::CloseNow(LinkId link, const std::string& why) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  if (!why.empty())
    spdlog::warn("link closed link={} remote={} reason=\"{}\"", link.value,
                 found->second.connection->Remote(), why);
  const auto connection = found->second.connection;
  connection->Close();
}

void Gateway::Send(std::vector<Outgoing> frames) {
  loop_.Post([this, frames = std::move(frames)] {
    for (const auto& outgoing : frames) SendNow(outgoing.link, outgoing.frame);
  });
}

void Gateway::Close(LinkId link) {
  loop_.Post([this, link] { CloseNow(link, ""); });
}

void Gateway::BeginAnew(Term term) {
  loop_.Post([this, term] {
    if (!links_.empty())
      spdlog::info("asking every node for Hello term={} links={}", term.value, links_.size());
    link::ServerFrame frame;
    frame.say_hello = true;
    for (auto& [id, link] : links_) {
      link.host = {};
      link.connection->Send(encoder_.Encode(frame));
    }
  });
}

}  // namespace muster::server
