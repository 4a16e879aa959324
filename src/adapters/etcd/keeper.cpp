#include "adapters/etcd/keeper.hpp"

#include "adapters/etcd/lead_time.hpp"

namespace muster::etcd {
namespace {

bool SameButForLoad(Member was, const Member& is) {
  was.links = is.links;
  return was == is;
}

}  // namespace

Keeper::Keeper(Gateway& gateway, Options options, const Clock& clock, Turns& turns, View& view)
    : gateway_(gateway),
      options_(std::move(options)),
      clock_(clock),
      turns_(turns),
      view_(view),
      thread_([this] { Run(); }) {}

Keeper::~Keeper() {
  gateway_.Hurry();
  {
    base::Lock lock(mutex_);
    stop_ = true;
    news_.NotifyAll();
  }
  thread_.join();
}

void Keeper::Announce(Member self) {
  base::Lock lock(mutex_);
  self_ = std::move(self);
  woken_ = true;
  news_.NotifyAll();
}

void Keeper::Wake() {
  base::Lock lock(mutex_);
  woken_ = true;
  news_.NotifyAll();
}

std::string Keeper::Trouble() const {
  base::Lock lock(mutex_);
  return trouble_;
}

void Keeper::Run() {
  while (Await()) Work();
  // Whoever waits for the leadership or looks at the members need not wait for the lease to lapse.
  if (lease_ != 0) (void)gateway_.Ask("/v3/lease/revoke", LeaseBody(lease_));
}

bool Keeper::Await() {
  base::Lock lock(mutex_);
  while (!stop_ && !woken_ && Steady::now() < renewal_) news_.WaitUntil(mutex_, renewal_);
  woken_ = false;
  return !stop_;
}

void Keeper::Work() {
  Result<> done = KeepLease();
  renewed_ = done.has_value();
  if (renewed_) {
    done = Compete();
    if (auto seated = TakeSeat(); !seated) done = seated;
  } else {
    renewal_ = Steady::now() + options_.lease / 20;
  }
  base::Lock lock(mutex_);
  trouble_ = done ? "" : "etcd: " + done.error().message;
}

Result<> Keeper::KeepLease() {
  if (lease_ != 0 && renewed_ && Steady::now() < renewal_) return {};
  if (lease_ != 0) {
    if (auto renewed = Renew(); !renewed || lease_ != 0) return renewed;
  }
  if (auto got = GetLease(); !got) return got;
  return Read();
}

Result<> Keeper::GetLease() {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.lease).count();
  const MonoTime sent = clock_.Read().mono;
  const auto grant = gateway_.AskFor("/v3/lease/grant", GrantBody(seconds), ReadGrant);
  if (!grant) return Fail(grant.error());
  lease_ = grant->lease;
  until_ = LeadTime(sent, grant->ttl);
  renewal_ = Steady::now() + options_.lease / 4;
  return {};
}

Result<> Keeper::Read() {
  const auto snapshot =
      gateway_.AskFor("/v3/kv/range", RangeBody(options_.keys.prefix), ReadSnapshot);
  if (!snapshot) return Fail(snapshot.error());
  if (view_.Replace(*snapshot, position_)) turns_.Changed();
  return {};
}

Result<> Keeper::Renew() {
  for (std::size_t moved = 0;; ++moved) {
    const MonoTime asked = clock_.Read().mono;
    if (auto read = Read(); !read) return read;
    LoseWithKey();
    const std::size_t endpoint = gateway_.Current();
    const auto ttl = gateway_.AskFor("/v3/lease/keepalive", LeaseBody(lease_), ReadKeptAlive);
    if (!ttl) return Fail(ttl.error());
    if (ttl->count() == 0) {
      LeaseIsGone();
      return {};
    }
    if (gateway_.Current() != endpoint && moved < 2) continue;
    if (gateway_.Current() != endpoint)
      return Fail(ErrorCode::kUnavailable, "no endpoint answers twice in a row");
    until_ = LeadTime(asked, *ttl);
    turns_.Renewed(until_);
    renewal_ = Steady::now() + options_.lease / 4;
    return {};
  }
}

void Keeper::LeaseIsGone() {
  lease_ = 0;
  claimed_.reset();
  seated_.reset();
  seating_ = {};
  turns_.Lost();
}

Result<TxnAnswer> Keeper::Txn(const std::string& body) {
  auto answer = gateway_.AskOnceFor("/v3/kv/txn", body, ReadTxn);
  if (!answer && answer.error().code == ErrorCode::kNotFound) {
    LeaseIsGone();
    renewal_ = {};
  }
  return answer;
}

Result<> Keeper::TakeSeat() {
  std::optional<Member> self;
  {
    base::Lock lock(mutex_);
    self = self_;
  }
  if (!self) return {};
  const std::string key = options_.keys.members + self->name;
  const auto seat = view_.Find(key);
  const Lease holder = seat ? seat->lease : 0;
  if (seated_ && seated_->name == self->name && holder != 0 && holder != lease_)
    return Fail(ErrorCode::kConflict, "another server calls itself {} too; rename one", self->name);
  if (self == seated_ && holder != 0) return {};
  // Load changes all the time; it is told no more often than the lease is renewed.
  if (seated_ && SameButForLoad(*seated_, *self) && Steady::now() < seating_) return {};
  const bool moves = seated_ && seated_->name != self->name;
  const std::string value = MemberText(*self);
  const auto put =
      Txn(PutBody(key, value, lease_, moves ? options_.keys.members + seated_->name : ""));
  if (!put) return Fail(put.error());
  seated_ = std::move(self);
  seating_ = Steady::now() + options_.lease / 4;
  Learn({.key = key, .value = value, .revision = put->revision, .lease = lease_});
  return {};
}

void Keeper::Learn(KeyValue news) {
  if (view_.Apply({&news, 1})) turns_.Changed();
}

void Keeper::LoseWithKey() {
  const auto wish = turns_.Wanted();
  if (!wish || !wish->leads) return;
  const auto holder = view_.Find(options_.keys.leader);
  if (!holder || holder->lease != lease_) turns_.Lost();
}

Result<> Keeper::Compete() {
  LoseWithKey();
  const auto holder = view_.Find(options_.keys.leader);
  const bool ours = holder && holder->lease == lease_;
  const auto wish = turns_.Wanted();
  if (wish && wish->leads) return {};
  const bool claimed = wish && claimed_ && claimed_->number == wish->number;
  if (claimed_ && !claimed) return Release(claimed_->text);
  // A claim of an earlier candidacy may come late.
  if (ours && !(claimed && holder->value == claimed_->text)) return Release(holder->value);
  if (!wish || (holder && !ours)) return {};
  return Claim(*wish);
}

Result<> Keeper::Claim(const Turns::Wish& wish) {
  const std::string& key = options_.keys.leader;
  const std::string value = LeaderText(wish.name, wish.number);
  claimed_ = {wish.number, value};  // from here on it may be there, whatever the answer says
  const auto answer = Txn(ClaimBody(key, value, lease_));
  if (!answer) return Fail(answer.error());
  KeyValue holder{.key = key, .value = value, .revision = answer->revision, .lease = lease_};
  if (!answer->succeeded && !answer->found.empty()) holder = answer->found.front();
  Learn(holder);
  if (holder.lease == lease_ && holder.value == value) (void)turns_.Won(wish.number, until_);
  return {};
}

Result<> Keeper::Release(const std::string& value) {
  const auto answer = Txn(ReleaseBody(options_.keys.leader, value, lease_));
  if (!answer) return Fail(answer.error());
  if (claimed_ && claimed_->text == value) claimed_.reset();
  if (answer->succeeded)
    Learn({.key = options_.keys.leader, .revision = answer->revision, .deleted = true});
  return {};
}

}  // namespace muster::etcd
