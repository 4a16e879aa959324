#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/endpoint.hpp"
#include "adapters/net/peer_root.hpp"
#include "base/loopback.hpp"
#include "base/text.hpp"
#include "cli/client/answer_json.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/fingerprint.hpp"
#include "cli/client/token_file.hpp"
#include "cli/context.hpp"
#include "cli/terminal/question.hpp"

namespace muster::cli {
namespace {

constexpr const char* kLoginExamples = R"(Examples:
  muster login https://muster.example:8440                   asks for the token
  muster login https://10.0.0.5:8440 --name prod --ca ca.pem
  muster login https://10.0.0.5:8440 --name prod --fingerprint 5E:A1:… < token

The token is checked before it is kept. It is kept in ~/.config/muster/contexts.yaml, which only you
may read.)";

constexpr const char* kLogoutExamples = R"(Examples:
  muster logout                      forget the context in use
  muster logout staging

The token stays valid on the server; an admin can revoke it there.)";

struct LoginFlags {
  std::string url;
  std::string name;
  std::string fingerprint;
};

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Fail(ErrorCode::kInvalid, "cannot read '{}': {}", path, std::strerror(errno));
  return text.str();
}

// One call with the trust at hand. The token goes only to a server whose certificate was accepted.
class Caller {
 public:
  Caller(const Context& context, const net::Endpoint& endpoint, net::TlsIdentity identity)
      : http_(endpoint, std::move(identity), context.call_timeout), url_(net::UrlOf(endpoint)) {}

  Result<std::string> Get(const std::string& target, const std::string& token) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = target;
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    const auto response = http_.Call(request);
    if (!response) return Fail(response.error());
    if (response->status != 200) return Fail(ErrorOfAnswer(response->status, response->body, url_));
    return response->body;
  }
  const std::string& RootPem() const { return http_.PeerRootPem(); }

 private:
  net::HttpClient http_;
  std::string url_;
};

// What to believe a server by. `own_ca`: it is not one of the system's, and must be kept.
struct Trust {
  net::TlsIdentity identity;
  bool own_ca = false;
};

// The server's CA is not known here, or not the one of an earlier login: a person decides, by its
// fingerprint. `finding` says which.
Result<Trust> AskForTrust(const Context& context, const net::Endpoint& endpoint,
                          const std::string& finding, const Error& refused) {
  const auto root = net::ShownRootPem(endpoint, context.call_timeout);
  if (!root) return Fail(root.error().code == ErrorCode::kNotFound ? refused : root.error());
  const auto fingerprint = crypto::CertFingerprint(*root);
  if (!fingerprint) return Fail(fingerprint.error());
  const auto shown = ShowFingerprint(*fingerprint);
  if (!context.CanAsk())
    return Fail(ErrorCode::kDenied,
                "{}; compare its fingerprint with the server's, then give it: --fingerprint {}",
                finding, shown);
  const auto answer =
      Ask("Trust it? Type yes if both are the same: ",
          {fmt::format("{}. Its SHA-256 fingerprint is", finding), "  " + shown,
           "On the server: openssl x509 -in /var/lib/muster/ca.pem -noout -sha256 -fingerprint"});
  if (!answer || Trim(*answer) != "yes")
    return Fail(ErrorCode::kDenied, "not trusted; nothing was sent or kept");
  return Trust{{.ca_fingerprint = *fingerprint}, true};
}

// `known_ca`: the CA file of an earlier login to the same server.
Result<Trust> TrustFor(const Context& context, const net::Endpoint& endpoint,
                       const LoginFlags& flags, const std::string& known_ca) {
  if (!endpoint.tls) return Trust{};
  const bool earlier = context.flags.ca_file.empty() && flags.fingerprint.empty();
  const auto& ca_file = earlier ? known_ca : context.flags.ca_file;
  if (!ca_file.empty()) {
    auto pem = ReadFile(ca_file);
    if (!pem) return Fail(pem.error());
    Trust trust{{.ca_pem = std::move(*pem)}, true};
    if (!earlier) return trust;
    const auto health = Caller(context, endpoint, trust.identity).Get("/healthz", "");
    if (health || health.error().code != ErrorCode::kDenied) return trust;
    return AskForTrust(context, endpoint,
                       fmt::format("The CA of {} is not the one of the earlier login", flags.url),
                       health.error());
  }
  if (!flags.fingerprint.empty()) {
    auto fingerprint = ParseFingerprint(flags.fingerprint);
    if (!fingerprint) return Fail(fingerprint.error());
    return Trust{{.ca_fingerprint = std::move(*fingerprint)}, true};
  }
  const auto health = Caller(context, endpoint, {}).Get("/healthz", "");
  if (health || health.error().code != ErrorCode::kDenied) return Trust{};
  return AskForTrust(context, endpoint, fmt::format("The CA of {} is not known here", flags.url),
                     health.error());
}

// From the flags, from the person, or from the pipe; nothing when the person gave up.
Result<std::optional<std::string>> TokenFor(const Context& context, const std::string& url) {
  std::string text = context.flags.token;
  if (text.empty() && !context.flags.token_file.empty()) {
    auto file = ReadTokenFile(context.flags.token_file);
    if (!file) return Fail(file.error());
    text = std::move(*file);
  } else if (text.empty() && context.CanAsk()) {
    auto answer = AskSecret(fmt::format("Token for {}: ", url));
    if (!answer) return std::optional<std::string>();
    text = std::move(*answer);
  } else if (text.empty()) {
    std::getline(std::cin, text);
  }
  std::string token(Trim(text));
  if (token.empty())
    return Fail(ErrorCode::kInvalid,
                "expected a token: on stdin, by --token-file, or typed at a terminal");
  return std::optional(std::move(token));
}

// Whose token it is, in a word or two.
Result<std::string> WhoCalls(Caller& caller, const std::string& url, const std::string& token) {
  const auto answer = caller.Get("/api/v1/whoami", token);
  if (!answer)
    return answer.error().code == ErrorCode::kDenied
               ? Fail(ErrorCode::kDenied, "{} does not accept this token; nothing was kept", url)
               : Fail(answer.error());
  const auto me = ParseAnswer(*answer);
  if (!me || TextOf(*me, "name").empty())
    return Fail(ErrorCode::kInternal, "{} does not answer as a Muster server does", url);
  return fmt::format("{} ({})", TextOf(*me, "name"), TextOf(*me, "role"));
}

Result<> CheckName(const Contexts& contexts, const std::string& name, const std::string& url) {
  const auto* known = contexts.Find(name);
  if (known == nullptr || known->server == url) return {};
  return Fail(ErrorCode::kConflict,
              "context {} is {} already; give this one another --name, or log out of it first: "
              "muster logout {}",
              name, known->server, name);
}

Result<int> Login(const Context& context, LoginFlags& flags) {
  while (flags.url.ends_with('/')) flags.url.pop_back();
  const auto endpoint = net::ParseEndpoint(flags.url);
  if (!endpoint) return Fail(endpoint.error());
  if (!endpoint->tls && !IsLoopback(endpoint->host))
    return Fail(ErrorCode::kInvalid, "the token would travel unencrypted to {}; use https://",
                flags.url);
  auto contexts = Contexts::Load(Contexts::DefaultFolder());
  if (!contexts) return Fail(contexts.error());
  const auto name = flags.name.empty() ? ContextNameFor(flags.url) : flags.name;
  if (auto ok = CheckName(*contexts, name, flags.url); !ok) return Fail(ok.error());

  const auto* known = contexts->Find(name);
  auto trust =
      TrustFor(context, *endpoint, flags, known == nullptr ? "" : contexts->CaPath(*known));
  if (!trust) return Fail(trust.error());
  Caller caller(context, *endpoint, trust->identity);
  if (const auto health = caller.Get("/healthz", ""); !health) return Fail(health.error());
  const auto token = TokenFor(context, flags.url);
  if (!token) return Fail(token.error());
  if (!*token) return kExitInterrupted;
  const auto me = WhoCalls(caller, flags.url, **token);
  if (!me) return Fail(me.error());

  const std::string ca = !trust->own_ca                   ? ""
                         : trust->identity.ca_pem.empty() ? caller.RootPem()
                                                          : trust->identity.ca_pem;
  if (auto ok = contexts->Put({name, flags.url, **token, {}}, ca); !ok) return Fail(ok.error());
  if (auto ok = contexts->Use(name); !ok) return Fail(ok.error());
  if (auto ok = contexts->Save(); !ok) return Fail(ok.error());
  context.Say(fmt::format("logged in to {} as {}; context {} is in use now", flags.url, *me, name));
  return 0;
}

Result<int> Logout(const Context& context, const std::string& given) {
  auto contexts = Contexts::Load(Contexts::DefaultFolder());
  if (!contexts) return Fail(contexts.error());
  const auto name = !given.empty()                  ? given
                    : context.flags.context.empty() ? contexts->Current()
                                                    : context.flags.context;
  if (name.empty()) return Fail(ErrorCode::kNotFound, "no context is in use; see: muster contexts");
  if (auto ok = contexts->Remove(name); !ok) return Fail(ok.error());
  if (auto ok = contexts->Save(); !ok) return Fail(ok.error());
  context.Say(fmt::format("context {} is forgotten{}", name,
                          contexts->Current().empty() && !contexts->All().empty()
                              ? "; none is in use now, choose one with: muster context use NAME"
                              : ""));
  return 0;
}

}  // namespace

void AddLogin(CLI::App& app, Context& context) {
  auto* login = app.add_subcommand("login", "Log in to a server and keep its token as a context");
  const auto flags = std::make_shared<LoginFlags>();
  login->footer(kLoginExamples);
  login->add_option("url", flags->url, "The server")->type_name("URL")->required();
  login->add_option("--name", flags->name, "Name of the context (default: the server's host)")
      ->type_name("CONTEXT");
  login
      ->add_option("--fingerprint", flags->fingerprint,
                   "Trust the CA of this SHA-256 fingerprint, without asking")
      ->type_name("HEX");
  login->callback(
      [&context, flags] { context.action = [&context, flags] { return Login(context, *flags); }; });

  auto* logout = app.add_subcommand("logout", "Forget a server and its token");
  const auto name = std::make_shared<std::string>();
  logout->footer(kLogoutExamples);
  logout->add_option("name", *name, "Which (default: the one in use)")->type_name("CONTEXT");
  logout->callback(
      [&context, name] { context.action = [&context, name] { return Logout(context, *name); }; });
}

}  // namespace muster::cli
