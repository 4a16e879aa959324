#include "server/live/declared_hosts.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace muster::server {
namespace {

constexpr std::size_t kPage = 500;
constexpr std::string_view kKind = "host";

bool ConcernsHosts(const Change& change) {
  if (const auto* put = std::get_if<PutDocument>(&change)) return put->document->kind == kKind;
  if (const auto* drop = std::get_if<DropDocument>(&change)) return drop->kind == kKind;
  return false;
}

}  // namespace

void DeclaredHosts::Take(const Batch& committed) {
  if (std::ranges::any_of(committed.changes, ConcernsHosts)) Forget();
}

void DeclaredHosts::Forget() {
  base::Lock lock(mutex_);
  all_.reset();
  missing_.reset();
  ++changes_;
}

Result<std::shared_ptr<const DeclaredHosts::Hosts>> DeclaredHosts::NeverJoined(
    const LiveView& live) {
  const std::uint64_t roster = live.Roster();
  {
    base::Lock lock(mutex_);
    if (missing_ && roster_ == roster) return missing_;
  }
  const auto all = All();
  if (!all) return Fail(all.error());
  auto hosts = std::make_shared<Hosts>();
  for (const std::size_t index : live.Strangers(**all)) hosts->push_back((**all)[index]);
  base::Lock lock(mutex_);
  if (all_ == *all) {
    missing_ = hosts;
    roster_ = roster;
  }
  return hosts;
}

Result<std::shared_ptr<const DeclaredHosts::Hosts>> DeclaredHosts::All() {
  std::uint64_t before = 0;
  {
    base::Lock lock(mutex_);
    if (all_) return all_;
    before = changes_;
  }
  auto hosts = std::make_shared<Hosts>();
  for (;;) {
    const auto page =
        store_.ListDocumentHeads(kKind, hosts->empty() ? "" : hosts->back().name, kPage);
    if (!page) return Fail(page.error());
    for (const auto& head : *page) {
      Host& host = hosts->emplace_back();
      host.name = head.name;
      host.labels = head.labels;
    }
    if (page->size() < kPage) break;
  }
  std::shared_ptr<const Hosts> read = std::move(hosts);
  base::Lock lock(mutex_);
  if (changes_ == before) all_ = read;
  return read;
}

}  // namespace muster::server
