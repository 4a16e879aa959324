#include "server/gateway/order_secrets.hpp"

#include <algorithm>

namespace muster::server {
namespace {

engine::NodeReports Refusal(LinkId link, const link::Order& order, const Error& why) {
  TaskEnd end;
  end.state = TaskState::kRefused;
  end.reason = why.message;
  end.log = LogTotals{
      .bytes = 0, .dropped = 0, .stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
  link::Report report{
      .task = order.task, .kind = link::ReportKind::kEnded, .end = std::move(end), .log = {}};
  const LogMark silent{.state = LogState::kComplete,
                       .bytes = 0,
                       .stdout_sha256 = kEmptySha256,
                       .stderr_sha256 = kEmptySha256};
  return {.link = link, .session = order.session, .reports = {{std::move(report), silent}}};
}

bool NamesSecrets(const link::Order& order) {
  return order.command && !order.command->secrets.empty();
}

}  // namespace

const OrderSecrets::Filled& OrderSecrets::FillOnce(const std::shared_ptr<const Command>& command) {
  const auto known = filled_.find(command);
  if (known != filled_.end()) return known->second;
  Command copy = *command;
  const auto filled = FillSecrets(copy, find_);
  Filled outcome = filled ? Filled(std::make_shared<const Command>(std::move(copy)))
                          : Filled(Fail(filled.error()));
  return filled_.emplace(command, std::move(outcome)).first->second;
}

std::vector<engine::NodeReports> OrderSecrets::Fill(Links::Outgoing& outgoing) {
  auto& orders = outgoing.frame.orders;
  if (std::ranges::none_of(orders, NamesSecrets)) return {};
  std::vector<engine::NodeReports> refusals;
  std::vector<link::Order> going;
  for (auto& order : orders) {
    if (NamesSecrets(order)) {
      const Filled& filled = FillOnce(order.command);
      if (!filled) {
        refusals.push_back(Refusal(outgoing.link, order, filled.error()));
        continue;
      }
      order.command = *filled;
    }
    going.push_back(std::move(order));
  }
  orders = std::move(going);
  return refusals;
}

}  // namespace muster::server
