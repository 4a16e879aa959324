#include "link/codec/codec.hpp"
#include "link/codec/parts.hpp"

namespace muster::link {
namespace {

using namespace codec;  // NOLINT: Put and Take are this folder's own words

void PutWelcome(const Welcome& welcome, wire::Welcome* out) {
  out->set_cluster(Clean(welcome.cluster));
  out->set_term(welcome.term.value);
  out->set_session(welcome.session);
  out->set_host(welcome.host.value);
  out->set_host_name(Clean(welcome.host_name));
  out->set_server_time(welcome.server_time);
  out->set_echo(welcome.echo);
  out->set_heartbeat_ms(welcome.heartbeat.count());
  for (const auto& answer : welcome.answers) {
    auto* item = out->add_answers();
    Put(answer.task, item->mutable_task());
    item->set_verb(static_cast<std::uint32_t>(answer.verb));
    item->set_durable_offset(answer.durable_offset);
    if (answer.max_output) item->set_max_output(*answer.max_output);
    item->set_grace_ms(answer.grace.count());
  }
  for (const auto& server : welcome.servers) out->add_servers(Clean(server));
  if (!welcome.ticket.signature.empty()) Put(welcome.ticket, out->mutable_ticket());
}

void PutOrder(const Order& order, const std::string& command, wire::Order* out) {
  Put(order.task, out->mutable_task());
  out->set_session(order.session);
  out->set_term(order.term.value);
  out->set_start_by(order.start_by);
  for (const auto& need : order.needs) out->add_needs(Clean(need));
  out->set_stage(Clean(order.stage));
  out->set_host_name(Clean(order.host_name));
  out->set_command(command);
}

Result<TaskAnswer> TakeAnswer(const wire::TaskAnswer& in) {
  if (!in.has_task()) return Fail(ErrorCode::kInvalid, "link: an answer without a task");
  if (in.verb() < 1 || in.verb() > 3)
    return Fail(ErrorCode::kInvalid, "link: {} is not an answer about a task", in.verb());
  if (in.durable_offset() > kMaxOffset)
    return Fail(ErrorCode::kInvalid, "link: durable up to {}", in.durable_offset());
  auto grace = TakeDuration(in.grace_ms());
  if (!grace) return Fail(grace.error());
  return TaskAnswer{
      .task = Take(in.task()),
      .verb = static_cast<Verb>(in.verb()),
      .durable_offset = in.durable_offset(),
      .grace = *grace,
      .max_output = in.has_max_output() ? std::optional(in.max_output()) : std::nullopt};
}

// Far more than a cluster has.
constexpr int kMaxServers = 256;
constexpr std::size_t kMaxServerBytes = 1024;

template <typename Texts>
Result<std::vector<std::string>> TakeServers(const Texts& in) {
  if (in.size() > kMaxServers) return Fail(ErrorCode::kInvalid, "link: {} servers", in.size());
  for (const auto& server : in)
    if (server.empty() || server.size() > kMaxServerBytes)
      return Fail(ErrorCode::kInvalid, "link: a server's address of {} bytes", server.size());
  return std::vector<std::string>(in.begin(), in.end());
}

Result<Welcome> TakeWelcome(const wire::Welcome& in) {
  auto heartbeat = TakeDuration(in.heartbeat_ms());
  if (!heartbeat) return Fail(heartbeat.error());
  auto servers = TakeServers(in.servers());
  if (!servers) return Fail(servers.error());
  Welcome welcome{.cluster = in.cluster(),
                  .term = Term(in.term()),
                  .session = in.session(),
                  .host = HostId(in.host()),
                  .host_name = in.host_name(),
                  .server_time = in.server_time(),
                  .echo = in.echo(),
                  .heartbeat = *heartbeat,
                  .answers = {},
                  .servers = std::move(*servers),
                  .ticket = Take(in.ticket())};
  for (const auto& item : in.answers()) {
    auto answer = TakeAnswer(item);
    if (!answer) return Fail(answer.error());
    welcome.answers.push_back(std::move(*answer));
  }
  return welcome;
}

// `command` is what in.command() says, decoded.
Result<Order> TakeOrder(const wire::Order& in, std::shared_ptr<const Command> command) {
  if (!in.has_task()) return Fail(ErrorCode::kInvalid, "link: an order without a task");
  return Order{.task = Take(in.task()),
               .session = in.session(),
               .term = Term(in.term()),
               .start_by = in.start_by(),
               .needs = {in.needs().begin(), in.needs().end()},
               .stage = in.stage(),
               .host_name = in.host_name(),
               .command = std::move(command)};
}

Result<std::shared_ptr<const Command>> TakeCommand(const std::string& bytes) {
  auto command = DecodeCommand(bytes);
  if (!command) return Fail(command.error());
  return std::make_shared<const Command>(std::move(*command));
}

Result<std::vector<Order>> TakeOrders(const wire::ServerFrame& in) {
  std::vector<Order> orders;
  const std::string* last_bytes = nullptr;
  std::shared_ptr<const Command> last_command;
  for (const auto& item : in.orders()) {
    if (last_bytes == nullptr || *last_bytes != item.command()) {
      auto command = TakeCommand(item.command());
      if (!command) return Fail(command.error());
      last_command = std::move(*command);
      last_bytes = &item.command();
    }
    auto order = TakeOrder(item, last_command);
    if (!order) return Fail(order.error());
    orders.push_back(std::move(*order));
  }
  return orders;
}

Result<> TakeSmallParts(const wire::ServerFrame& in, ServerFrame* frame) {
  for (const auto& item : in.kills()) {
    auto grace = TakeDuration(item.grace_ms());
    if (!grace) return Fail(grace.error());
    if (!item.has_task()) return Fail(ErrorCode::kInvalid, "link: a kill without a task");
    frame->kills.push_back({.task = Take(item.task()), .grace = *grace});
  }
  for (const auto& item : in.log_acks()) {
    if (!item.has_task() || item.offset() > kMaxOffset)
      return Fail(ErrorCode::kInvalid, "link: an acknowledgement of no task or up to {}",
                  item.offset());
    frame->log_acks.push_back({.task = Take(item.task()), .offset = item.offset()});
  }
  for (const auto& item : in.forgets()) frame->forgets.push_back(Take(item));
  return {};
}

}  // namespace

std::string EncodeCommand(const Command& command) {
  wire::Command out;
  Put(command, &out);
  return Serialize(out);
}

Result<Command> DecodeCommand(std::string_view bytes) {
  wire::Command in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  return Take(in);
}

std::string EncodeOrder(const Order& order) {
  wire::Order out;
  PutOrder(order, order.command ? EncodeCommand(*order.command) : "", &out);
  return Serialize(out);
}

Result<Order> DecodeOrder(std::string_view bytes) {
  wire::Order in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  auto command = TakeCommand(in.command());
  if (!command) return Fail(command.error());
  return TakeOrder(in, std::move(*command));
}

std::string EncodeTaskEnd(const TaskEnd& end) {
  wire::TaskEnd out;
  Put(end, &out);
  return Serialize(out);
}

Result<TaskEnd> DecodeTaskEnd(std::string_view bytes) {
  wire::TaskEnd in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  return Take(in);
}

std::string EncodeKeptEnd(const TaskKey& task, const TaskEnd& end) {
  wire::TaskEnd out;
  Put(end, &out);
  Put(task, out.mutable_task());
  return Serialize(out);
}

Result<KeptEnd> DecodeKeptEnd(std::string_view bytes) {
  wire::TaskEnd in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  auto end = Take(in);
  if (!end) return Fail(end.error());
  KeptEnd kept{.task = {}, .end = std::move(*end)};
  if (in.has_task()) kept.task = Take(in.task());
  return kept;
}

std::string ServerFrameEncoder::Encode(const ServerFrame& frame) {
  wire::ServerFrame out;
  out.set_say_hello(frame.say_hello);
  out.set_seen(frame.seen);
  if (frame.welcome) PutWelcome(*frame.welcome, out.mutable_welcome());
  if (frame.refusal) {
    out.mutable_refusal()->set_code(Clean(frame.refusal->code));
    out.mutable_refusal()->set_message(Clean(frame.refusal->message));
  }
  if (frame.beat) {
    out.mutable_beat()->set_echo(frame.beat->echo);
    out.mutable_beat()->set_server_time(frame.beat->server_time);
    for (const auto& server : frame.beat->servers) out.mutable_beat()->add_servers(Clean(server));
  }
  for (const auto& order : frame.orders) {
    if (order.command != last_command_) {
      last_command_ = order.command;
      last_bytes_ = last_command_ ? EncodeCommand(*last_command_) : "";
    }
    PutOrder(order, last_bytes_, out.add_orders());
  }
  for (const auto& kill : frame.kills) {
    auto* item = out.add_kills();
    Put(kill.task, item->mutable_task());
    item->set_grace_ms(kill.grace.count());
  }
  for (const auto& ack : frame.log_acks) {
    auto* item = out.add_log_acks();
    Put(ack.task, item->mutable_task());
    item->set_offset(ack.offset);
  }
  for (const auto& task : frame.forgets) Put(task, out.add_forgets());
  if (frame.papers) {
    out.mutable_papers()->set_ca_pem(Clean(frame.papers->ca_pem));
    out.mutable_papers()->set_signer(Clean(frame.papers->signer));
    out.mutable_papers()->set_cert_pem(Clean(frame.papers->cert_pem));
  }
  if (frame.goodbye) {
    auto* goodbye = out.mutable_goodbye();
    for (const auto& server : frame.goodbye->servers) goodbye->add_servers(Clean(server));
  }
  return Serialize(out);
}

Result<ServerFrame> DecodeServerFrame(std::string_view bytes) {
  wire::ServerFrame in;
  if (auto parsed = Parse(bytes, &in); !parsed) return Fail(parsed.error());
  ServerFrame frame;
  frame.say_hello = in.say_hello();
  frame.seen = in.seen();
  if (in.has_welcome()) {
    auto welcome = TakeWelcome(in.welcome());
    if (!welcome) return Fail(welcome.error());
    frame.welcome = std::move(*welcome);
  }
  if (in.has_refusal())
    frame.refusal = Refusal{.code = in.refusal().code(), .message = in.refusal().message()};
  if (in.has_beat()) {
    auto servers = TakeServers(in.beat().servers());
    if (!servers) return Fail(servers.error());
    frame.beat = BeatAnswer{.echo = in.beat().echo(),
                            .server_time = in.beat().server_time(),
                            .servers = std::move(*servers)};
  }
  auto orders = TakeOrders(in);
  if (!orders) return Fail(orders.error());
  frame.orders = std::move(*orders);
  if (auto taken = TakeSmallParts(in, &frame); !taken) return Fail(taken.error());
  if (in.has_papers())
    frame.papers = Papers{.ca_pem = in.papers().ca_pem(),
                          .signer = in.papers().signer(),
                          .cert_pem = in.papers().cert_pem()};
  if (in.has_goodbye()) {
    auto servers = TakeServers(in.goodbye().servers());
    if (!servers) return Fail(servers.error());
    frame.goodbye = Goodbye{std::move(*servers)};
  }
  return frame;
}

}  // namespace muster::link
