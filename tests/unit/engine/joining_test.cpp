#include "engine_fixture.hpp"

namespace muster::engine {
namespace {

class Joining : public EngineFixture {
 protected:
  void MakeInvite(const std::string& id, std::uint32_t uses = 1, bool replace = false,
                  const std::string& names = "", Labels labels = {}) {
    Ask(CreateInvite{.caller = {},
                     .invite = {.id = id,
                                .uses_left = uses,
                                .expires = WallTime{INT64_MAX / 2},
                                .replace = replace,
                                .labels = std::move(labels),
                                .created_by = {},
                                .created = {},
                                .names = names}});
    Settle();
  }
  Result<JoinHost::Answer> Join(const std::string& invite, const std::string& name,
                                const std::string& key, Labels labels = {}) {
    return Answered(JoinHost{
        .caller = {}, .invite = invite, .name = name, .key = key, .labels = std::move(labels)});
  }
  template <typename C>
  Result<typename C::Answer> Answered(C command) {
    const auto id = Ask(std::move(command));
    Settle();
    return AnswerTo<C>(id);
  }
  Result<HostChanged> Revoke(const std::string& name) {
    return Answered(RevokeHost{.caller = {}, .name = name, .reason = "stolen"});
  }
  const Host& HostNamed(const std::string& name) {
    const auto& state = pipeline_->engine()->state();
    return state.hosts.entries.at(state.hosts.by_name.at(name)).host;
  }
  static bool Waits(const Result<JoinHost::Answer>& answer) {
    return answer && std::holds_alternative<JoinWaits>(*answer);
  }
  static bool Joined(const Result<JoinHost::Answer>& answer) {
    return answer && std::holds_alternative<HostJoined>(*answer);
  }
  template <typename T>
  static ErrorCode CodeOf(const Result<T>& answer) {
    return answer ? ErrorCode::kInternal : answer.error().code;
  }
};

TEST_F(Joining, RevokedInviteLetsNobodyIn) {
  MakeInvite("aaaaaaaa1", 5);
  MakeInvite("aaaaaaaa2", 5);
  MakeInvite("bbbbbbbb1", 1);
  ASSERT_TRUE(Joined(Join("aaaaaaaa1", "web1", "k1")));
  ASSERT_TRUE(Joined(Join("bbbbbbbb1", "web2", "k2")));
  const auto revoke = [&](const std::string& id) {
    return Answered(RevokeInvite{.caller = {}, .id = id, .reason = "leaked"});
  };
  EXPECT_EQ(CodeOf(revoke("aaaa")), ErrorCode::kInvalid) << "too short";
  EXPECT_EQ(CodeOf(revoke("aaaaaaaa")), ErrorCode::kConflict) << "two begin so";
  EXPECT_EQ(CodeOf(revoke("bbbbbbbb1")), ErrorCode::kNotFound) << "it is used up";
  ASSERT_TRUE(revoke("aaaaaaaa1"));
  EXPECT_EQ(Acts("invite.revoke"), 1U);
  EXPECT_EQ(CodeOf(Join("aaaaaaaa1", "web3", "k3")), ErrorCode::kDenied);
  const auto left = Answered(ListInvites{.caller = {}});
  ASSERT_TRUE(left);
  ASSERT_EQ(left->invites.size(), 1U);
  EXPECT_EQ(left->invites[0].id, "aaaaaaaa2");
  Lead();
  EXPECT_EQ(CodeOf(Join("aaaaaaaa1", "web3", "k3")), ErrorCode::kDenied) << "also after a restart";
  EXPECT_EQ(HostNamed("web1").state, HostState::kActive);
}

TEST_F(Joining, TicketIsCheckedBeforeAnythingElse) {
  const auto check = [&](const std::string& invite, const std::string& name) {
    return Answered(CheckInvite{.caller = {}, .invite = invite, .name = name});
  };
  MakeInvite("t", 1, false, "web*");
  EXPECT_EQ(CodeOf(check("unknown", "web1")), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(check("t", "db1")), ErrorCode::kDenied);
  EXPECT_TRUE(check("t", "web1"));
  EXPECT_TRUE(check("t", "web1")) << "nothing was used up";
  EXPECT_TRUE(Joined(Join("t", "web1", "k1")));
  EXPECT_EQ(CodeOf(check("t", "web2")), ErrorCode::kDenied) << "it is used up";
  EXPECT_TRUE(check("t", "web1")) << "the answer may have been lost";
}

TEST_F(Joining, NewcomerThatWaitsMayAskAgain) {
  MakeInvite("old");
  MakeInvite("new");
  EXPECT_TRUE(Joined(Join("old", "h1", "k1")));
  EXPECT_TRUE(Waits(Join("new", "h1", "k2")));
  EXPECT_TRUE(Answered(CheckInvite{.caller = {}, .invite = "new", .name = "h1"}));
  EXPECT_EQ(CodeOf(Answered(CheckInvite{.caller = {}, .invite = "new", .name = "h2"})),
            ErrorCode::kDenied);
}

TEST_F(Joining, TicketForNamesLetsOnlyThoseIn) {
  MakeInvite("t", 2, false, "web*.sh?");
  EXPECT_EQ(CodeOf(Join("t", "db1.sh1", "k1")), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(Join("t", "web1.sh10", "k1")), ErrorCode::kDenied);
  EXPECT_TRUE(Joined(Join("t", "web1.sh1", "k1")));
}

TEST_F(Joining, TicketsLabelsWinOverTheHostsOwn) {
  MakeInvite("t", 1, false, "", {{"zone", "sh1"}});
  ASSERT_TRUE(Joined(Join("t", "web1", "k1", {{"zone", "mine"}, {"rack", "7"}})));
  EXPECT_EQ(HostNamed("web1").labels, (Labels{{"zone", "sh1"}, {"rack", "7"}}));
}

TEST_F(Joining, KnownKeyNeedsAnInviteThatIsGood) {
  AddHosts(1);  // has connected
  MakeInvite("t", 1, false, "web*");
  EXPECT_EQ(CodeOf(Join("nothing", "h1", "key-h1")), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(Join("t", "h1", "key-h1")), ErrorCode::kDenied) << "the invite is for others";
  MakeInvite("u");
  Advance(std::chrono::hours(1));
  EXPECT_TRUE(Joined(Join("u", "h1", "key-h1")));
  EXPECT_EQ(HostNamed("h1").id, HostId(1));
  EXPECT_TRUE(Joined(Join("u", "h1", "key-h1"))) << "the answer may have been lost";
  EXPECT_EQ(Acts("agent.certificate"), 2U);
  SayHello(1);
  Settle();
  EXPECT_EQ(CodeOf(Join("u", "h1", "key-h1")), ErrorCode::kDenied) << "it is used up";
}

TEST_F(Joining, LostAnswerIsGivenAgainUntilTheHostConnects) {
  MakeInvite("t");
  ASSERT_TRUE(Joined(Join("t", "h1", "key-h1")));
  Lead();
  EXPECT_TRUE(Joined(Join("t", "h1", "key-h1")));
  EXPECT_EQ(CodeOf(Join("u", "h1", "key-h1")), ErrorCode::kDenied) << "another invite";
  EXPECT_EQ(Acts("agent.join"), 1U);
  EXPECT_EQ(Acts("agent.certificate"), 1U) << "each certificate is on record";
  SayHello(1);
  Settle();
  EXPECT_EQ(CodeOf(Join("t", "h1", "key-h1")), ErrorCode::kDenied);
}

TEST_F(Joining, LostAnswerIsNotGivenForever) {
  MakeInvite("t");
  ASSERT_TRUE(Joined(Join("t", "h1", "k1")));
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(Joined(Join("t", "h1", "k1"))) << i;
  EXPECT_EQ(CodeOf(Join("t", "h1", "k1")), ErrorCode::kDenied);
  MakeInvite("u");
  ASSERT_TRUE(Joined(Join("u", "h2", "k2")));
  Advance(std::chrono::hours(25));
  EXPECT_EQ(CodeOf(Join("u", "h2", "k2")), ErrorCode::kDenied);
}

TEST_F(Joining, InviteMayLeaveOutTheHostsOwnLabels) {
  Ask(CreateInvite{.caller = {},
                   .invite = {.id = "t",
                              .uses_left = 1,
                              .expires = WallTime{INT64_MAX / 2},
                              .labels = {{"zone", "sh1"}},
                              .created_by = {},
                              .no_own_labels = true}});
  ASSERT_TRUE(Joined(Join("t", "web1", "k1", {{"app", "db"}})));
  EXPECT_EQ(HostNamed("web1").labels, (Labels{{"zone", "sh1"}}));
  EXPECT_TRUE(HostNamed("web1").own_labels.empty());
}

TEST_F(Joining, WhichLabelsAHostChoseIsKnownUntilTheServerGivesThem) {
  MakeInvite("t", 1, false, "", {{"zone", "sh1"}});
  ASSERT_TRUE(Joined(Join("t", "web1", "k1", {{"zone", "mine"}, {"app", "db"}, {"rack", "7"}})));
  EXPECT_EQ(HostNamed("web1").own_labels, (std::vector<std::string>{"app", "rack"}));
  ASSERT_TRUE(Answered(LabelHosts{.caller = {},
                                  .targets = "web1",
                                  .hosts = {HostNamed("web1").id},
                                  .set = {{"app", "db"}},
                                  .remove = {}}));
  Lead();
  EXPECT_EQ(HostNamed("web1").own_labels, (std::vector<std::string>{"rack"}));
}

TEST_F(Joining, KnownNameWithAnotherKeyWaitsAlsoAcrossARestart) {
  AddHosts(1);
  MakeInvite("t");
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  Lead();
  EXPECT_TRUE(Waits(Join("t", "h1", "new")));
  const auto list = Answered(ListPending{});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->joins.size(), 1U);
  EXPECT_EQ(list->joins[0].key, "new");
  EXPECT_EQ(HostNamed("h1").key, "key-h1");
}

TEST_F(Joining, WaitingUsesTheTicketUpOnce) {
  AddHosts(1);
  MakeInvite("t");
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  EXPECT_TRUE(Waits(Join("t", "h1", "new")));
  EXPECT_EQ(CodeOf(Join("t", "h9", "other")), ErrorCode::kDenied);
}

TEST_F(Joining, AcceptedNewcomerTakesOverAndTheOldKeysTaskIsLost) {
  AddHosts(1);
  const RunId run = Start(1);
  TakeOrders();
  MakeInvite("t", 1, false, "", {{"zone", "sh1"}});
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  const LinkId old_link = link_of_[1];
  ASSERT_TRUE(Answered(AcceptJoin{.caller = {}, .name = "h1", .key = "new"}));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  EXPECT_EQ(closed_, std::vector{old_link});
  EXPECT_TRUE(Joined(Join("t", "h1", "new")));
  EXPECT_EQ(HostNamed("h1").id, HostId(1));
  EXPECT_EQ(HostNamed("h1").key, "new");
  EXPECT_EQ(HostNamed("h1").labels, (Labels{{"zone", "sh1"}}));
  frames_.clear();
  SayHello(1);  // with the old key
  Settle();
  ASSERT_FALSE(frames_.empty());
  EXPECT_EQ(frames_.back().frame.refusal->code, "unknown");
  EXPECT_TRUE(Answered(ListPending{})->joins.empty());
}

TEST_F(Joining, AcceptOfAnotherKeyThanTheOneThatWaitsIsRefused) {
  AddHosts(1);
  MakeInvite("t");
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  EXPECT_EQ(CodeOf(Answered(AcceptJoin{.caller = {}, .name = "h1", .key = "seen before"})),
            ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(Answered(AcceptJoin{.caller = {}, .name = "h2", .key = ""})),
            ErrorCode::kNotFound);
  EXPECT_EQ(HostNamed("h1").key, "key-h1");
}

TEST_F(Joining, SecondNewcomerMustNotPushTheFirstAside) {
  AddHosts(1);
  MakeInvite("t", 5);
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  EXPECT_EQ(CodeOf(Join("t", "h1", "newer")), ErrorCode::kConflict);
  Advance(std::chrono::minutes(9));
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  Advance(std::chrono::minutes(9));
  EXPECT_EQ(CodeOf(Join("t", "h1", "newer")), ErrorCode::kConflict);
  Advance(std::chrono::minutes(2));  // the first no longer asks
  EXPECT_TRUE(Waits(Join("t", "h1", "newer")));
}

TEST_F(Joining, RejectedNewcomerIsToldSoAndTheNextMayWait) {
  AddHosts(1);
  MakeInvite("t", 5);
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  ASSERT_TRUE(Answered(RejectJoin{.caller = {}, .name = "h1", .reason = "who?"}));
  Lead();
  const auto again = Join("t", "h1", "new");
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<JoinRejected>(*again).pending.rejected, "by : who?");
  EXPECT_EQ(CodeOf(Answered(AcceptJoin{.caller = {}, .name = "h1", .key = ""})),
            ErrorCode::kNotFound);
  EXPECT_TRUE(Waits(Join("t", "h1", "newer")));
}

TEST_F(Joining, RejectionIsFoundByTheHostItProtects) {
  AddHosts(1);
  MakeInvite("t", 5);
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  ASSERT_TRUE(Answered(RejectJoin{.caller = {}, .name = "h1", .reason = "who?"}));
  AuditFilter filter;
  filter.host = HostId(1);
  filter.act = "agent.reject";
  EXPECT_EQ(store_.ListAudit(filter, 0, 10)->entries.size(), 1U);
}

TEST_F(Joining, LabelsOfTheServerOutliveAReplacement) {
  AddHosts(1);
  ASSERT_TRUE(Answered(LabelHosts{.caller = {},
                                  .targets = "h1",
                                  .hosts = {HostId(1)},
                                  .set = {{"app", "web"}, {"zone", "sh1"}},
                                  .remove = {}}));
  MakeInvite("t", 1, true, "", {{"zone", "sh2"}});
  ASSERT_TRUE(Joined(Join("t", "h1", "new", {{"app", "vault"}, {"disk", "ssd"}})));
  EXPECT_EQ(HostNamed("h1").labels, (Labels{{"app", "web"}, {"zone", "sh2"}, {"disk", "ssd"}}));
}

TEST_F(Joining, LabelsAreSetRemovedCountedAndKept) {
  AddHosts(2);
  const LabelHosts both{.caller = {},
                        .targets = "all",
                        .hosts = {HostId(1), HostId(2), HostId(77)},
                        .set = {{"a", "1"}},
                        .remove = {"b"}};
  const auto first = Answered(both);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->hosts, 2U);
  EXPECT_EQ(first->changed, 2U);
  EXPECT_EQ(Answered(both)->changed, 0U);
  Lead();
  EXPECT_EQ(HostNamed("h2").labels, (Labels{{"a", "1"}}));
}

TEST_F(Joining, RevokedHostLosesItsWorkAndGetsNoMore) {
  AddHosts(2);
  const RunId open = Start(2);
  TakeOrders();
  const LinkId link = link_of_[1];
  ASSERT_TRUE(Revoke("h1"));
  EXPECT_EQ(StateOf(open, 1), TaskState::kLost);
  EXPECT_EQ(StateOf(open, 2), TaskState::kSent);
  EXPECT_EQ(closed_, std::vector{link});
  EXPECT_EQ(HostNamed("h1").state, HostState::kRevoked);
  frames_.clear();
  SayHello(1);
  Settle();
  EXPECT_EQ(frames_.back().frame.refusal->code, "revoked");
  const RunId later = Start(2);
  EXPECT_EQ(StateOf(later, 1), TaskState::kUnreachable);
  for (const auto& order : TakeOrders()) EXPECT_EQ(order.host, HostId(2));
}

TEST_F(Joining, RevokedHostWasLastSeenWhenItsLinkEnded) {
  AddHosts(2);
  const WallTime hello = HostNamed("h1").last_hello;
  Advance(std::chrono::minutes(5));
  ASSERT_TRUE(Revoke("h1"));
  EXPECT_EQ(HostNamed("h1").last_hello - hello, std::chrono::minutes(5));
  Cut(2);
  const WallTime seen = HostNamed("h2").last_hello;
  Advance(std::chrono::minutes(5));
  ASSERT_TRUE(Revoke("h2"));
  EXPECT_EQ(HostNamed("h2").last_hello, seen) << "its link had ended before";
}

TEST_F(Joining, RevocationEndsWhatWaitsForTheHost) {
  AddHosts(1);
  Cut(1);
  StageSpec stage;
  stage.wait_offline = std::chrono::hours(1);
  const RunId run = Start(1, stage);
  ASSERT_TRUE(Revoke("h1"));
  EXPECT_EQ(StateOf(run, 1), TaskState::kUnreachable);
  EXPECT_TRUE(IsFinal(Find(run).state));
}

TEST_F(Joining, RevokedKeyCannotJoinAgainButTheNameCanBeTakenOver) {
  AddHosts(1);
  ASSERT_TRUE(Revoke("h1"));
  Lead();
  MakeInvite("t", 9);
  EXPECT_EQ(CodeOf(Join("t", "h1", "key-h1")), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(Join("t", "h5", "key-h1")), ErrorCode::kDenied);
  ASSERT_TRUE(Waits(Join("t", "h1", "new")));
  ASSERT_TRUE(Answered(AcceptJoin{.caller = {}, .name = "h1", .key = ""}));
  EXPECT_EQ(HostNamed("h1").state, HostState::kActive);
  EXPECT_EQ(HostNamed("h1").note, "");
}

TEST_F(Joining, OnlyHostsThatAreGoneCanBeRemoved) {
  AddHosts(2);
  EXPECT_EQ(CodeOf(Answered(RemoveHost{.caller = {}, .name = "h1"})), ErrorCode::kConflict);
  ASSERT_TRUE(Revoke("h2"));
  EXPECT_TRUE(Answered(RemoveHost{.caller = {}, .name = "h2"}));
  Cut(1);
  EXPECT_TRUE(Answered(RemoveHost{.caller = {}, .name = "h1"}));
  EXPECT_EQ(CodeOf(Answered(RemoveHost{.caller = {}, .name = "h1"})), ErrorCode::kNotFound);
  Lead();
  EXPECT_TRUE(pipeline_->engine()->state().hosts.entries.empty());
}

ApplyDocuments Declare(const std::string& name) {
  auto document = std::make_shared<Document>();
  document->kind = "host";
  document->name = name;
  document->hash = std::string(32, 'h');
  return {.caller = {}, .puts = {document}, .drops = {}, .reason = {}};
}

TEST_F(Joining, RemovedHostTakesItsDocumentAlong) {
  AddHosts(1);
  ASSERT_TRUE(Answered(Declare("h1")));
  Cut(1);
  ASSERT_TRUE(Answered(RemoveHost{.caller = {}, .name = "h1", .reason = "scrapped"}));
  Lead();
  EXPECT_TRUE(pipeline_->engine()->state().documents.heads.at({"host", "h1"}).dropped);
}

TEST_F(Joining, HostThatNeverJoinedIsItsDocumentAlone) {
  EXPECT_EQ(CodeOf(Answered(RemoveHost{.caller = {}, .name = "h1"})), ErrorCode::kNotFound);
  ASSERT_TRUE(Answered(Declare("h1")));
  ASSERT_TRUE(Answered(RemoveHost{.caller = {}, .name = "h1"}));
  EXPECT_EQ(CodeOf(Answered(RemoveHost{.caller = {}, .name = "h1"})), ErrorCode::kNotFound);
}

TEST_F(Joining, LinkThatClosesIsWhenAHostWasLastSeen) {
  AddHosts(1);
  const auto hello = HostNamed("h1").last_hello;
  Advance(std::chrono::hours(24 * 30));
  Cut(1);
  Settle();
  const auto seen = HostNamed("h1").last_hello;
  EXPECT_GE(seen - hello, Duration(std::chrono::hours(24 * 30)));
  Lead();
  EXPECT_EQ(HostNamed("h1").last_hello, seen);
}

TEST_F(Joining, HostThatFellSilentWasLastSeenWhenItSpokeLast) {
  AddHosts(1);
  Advance(std::chrono::hours(1));
  Tell(LinkClosed{link_of_.at(1), std::chrono::seconds(45)});
  Settle();
  EXPECT_EQ(now_.wall - HostNamed("h1").last_hello, Duration(std::chrono::seconds(45)));
}

TEST_F(Joining, RemovedHostEndsWhatItHeldAndItsIdIsNotGivenAgain) {
  AddHosts(1);
  StageSpec stage;
  auto command = std::make_shared<muster::Command>();
  command->timeout = std::chrono::hours(24 * 30);
  stage.action = command;
  const RunId run = Start(1, stage);
  Cut(1);
  Advance(std::chrono::hours(24 * 8));
  ASSERT_TRUE(Answered(RemoveHost{.caller = {}, .name = "h1"}));
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  Lead();
  MakeInvite("t");
  ASSERT_TRUE(Joined(Join("t", "h1", "new")));
  EXPECT_EQ(HostNamed("h1").id, HostId(2));
}

TEST_F(Joining, OneKeyMakesOneTicket) {
  CreateInvite request{.caller = {},
                       .invite = {.id = "t", .uses_left = 2, .expires = WallTime{INT64_MAX / 2}},
                       .key = "k",
                       .body_sha256 = "body",
                       .known = *store_.FindKey("", "k")};
  ASSERT_TRUE(Answered(request));
  ASSERT_TRUE(Joined(Join("t", "web1", "k1")));
  const auto again = Answered(request);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->invite.uses_left, 1U) << "not made anew";
  request.body_sha256 = "another";
  EXPECT_EQ(CodeOf(Answered(request)), ErrorCode::kConflict);
  request.body_sha256 = "body";
  ASSERT_TRUE(Joined(Join("t", "web2", "k2")));
  Lead();
  request.known = *store_.FindKey("", "k");
  EXPECT_EQ(CodeOf(Answered(request)), ErrorCode::kConflict) << "used up";
  EXPECT_EQ(CodeOf(Join("t", "web3", "k3")), ErrorCode::kDenied);
}

class ServerJoining : public Joining {
 protected:
  void InviteServer(const std::string& id, Duration life = std::chrono::hours(1)) {
    Ask(CreateInvite{.caller = {},
                     .invite = {.id = id,
                                .uses_left = 1,
                                .expires = now_.wall + life,
                                .replace = false,
                                .labels = {},
                                .created_by = {},
                                .created = {},
                                .names = {},
                                .server = true}});
    Settle();
  }
  // The code of the answer; kInternal: it was let in.
  ErrorCode JoinServer(const std::string& invite, const std::string& name, const std::string& key) {
    return CodeOf(Answered(engine::JoinServer{
        .caller = {}, .invite = invite, .name = name, .key = key, .keys = keys_}));
  }
  std::size_t Open() {
    const auto open = Answered(ListInvites{.caller = {}});
    return open->invites.size();
  }
  std::string keys_ = "digest";  // of the keys of the cluster
  static constexpr ErrorCode kLetIn = ErrorCode::kInternal;
};

TEST_F(ServerJoining, SameKeyIsAnsweredAgainAndNoOther) {
  InviteServer("t");
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  EXPECT_EQ(JoinServer("t", "s2", "another"), ErrorCode::kDenied);
  EXPECT_EQ(JoinServer("t", "s3", "k"), ErrorCode::kDenied) << "another name";
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  Lead();
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn) << "also after a restart of the leader";
  EXPECT_EQ(JoinServer("t", "s2", "another"), ErrorCode::kDenied);
  EXPECT_EQ(Acts("server.join"), 3U) << "each time is on the trail";
}

TEST_F(ServerJoining, UsedInviteIsListedAndRevokedWhileItIsAnswered) {
  InviteServer("0123456789abcdef");
  EXPECT_EQ(JoinServer("0123456789abcdef", "s2", "k"), kLetIn);
  EXPECT_EQ(Open(), 1U);
  EXPECT_TRUE(Answered(RevokeInvite{.caller = {}, .id = "0123456789", .reason = {}}));
  EXPECT_EQ(JoinServer("0123456789abcdef", "s2", "k"), ErrorCode::kDenied);
  EXPECT_EQ(Open(), 0U);
}

TEST_F(ServerJoining, ChangedKeysAreNotGivenForAUsedInvite) {
  InviteServer("t");
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  keys_ = "of the next CA";
  EXPECT_EQ(JoinServer("t", "s2", "k"), ErrorCode::kDenied);
}

TEST_F(ServerJoining, NotLongerThanAnHour) {
  InviteServer("t", std::chrono::hours(100));
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  Advance(std::chrono::minutes(50));
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  Advance(std::chrono::minutes(20));
  EXPECT_EQ(JoinServer("t", "s2", "k"), ErrorCode::kDenied);
  EXPECT_EQ(Open(), 0U);
}

TEST_F(ServerJoining, InviteOfNoKeyIsNotBound) {
  InviteServer("t");
  EXPECT_EQ(JoinServer("t", "s2", ""), kLetIn);
  EXPECT_EQ(JoinServer("t", "s2", ""), ErrorCode::kDenied);
}

TEST_F(ServerJoining, NotAfterTheInviteHasExpired) {
  InviteServer("t", std::chrono::minutes(5));
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  Advance(std::chrono::minutes(6));
  EXPECT_EQ(JoinServer("t", "s2", "k"), ErrorCode::kDenied);
}

TEST_F(ServerJoining, NotMoreThanTenTimes) {
  InviteServer("t");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  EXPECT_EQ(JoinServer("t", "s2", "k"), ErrorCode::kDenied);
}

TEST_F(ServerJoining, KeyOfTheInviteIsUsedUpAllTheSame) {
  const CreateInvite create{.caller = {.request = {}, .name = "ann", .address = {}},
                            .invite = {.id = "t",
                                       .uses_left = 1,
                                       .expires = now_.wall + std::chrono::hours(1),
                                       .replace = false,
                                       .labels = {},
                                       .created_by = {},
                                       .created = {},
                                       .names = {},
                                       .server = true},
                            .key = "once",
                            .body_sha256 = "b"};
  ASSERT_TRUE(Answered(create));
  EXPECT_TRUE(Answered(create)) << "not used yet";
  EXPECT_EQ(JoinServer("t", "s2", "k"), kLetIn);
  EXPECT_EQ(CodeOf(Answered(create)), ErrorCode::kConflict);
}

}  // namespace
}  // namespace muster::engine
