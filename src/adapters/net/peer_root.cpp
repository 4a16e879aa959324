#include "adapters/net/peer_root.hpp"

#include "adapters/net/blocking_stream.hpp"
#include "adapters/net/endpoint.hpp"

namespace muster::net {

Result<std::string> ShownRootPem(const Endpoint& endpoint, Duration timeout) {
  auto context = ClientContext::Make("", "");
  if (!context) return Fail(context.error());
  // Nothing is sent over this connection; whoever shows the certificate learns nothing.
  SSL_CTX_set_verify((*context)->get(), SSL_VERIFY_NONE, nullptr);
  const AbortSignal never;
  const auto stream = BlockingStream::Open(endpoint, context->get(), {}, timeout, never);
  if (!stream) return Fail(stream.error());
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(stream->ssl());
  const int length = chain == nullptr ? 0 : sk_X509_num(chain);
  X509* last = length == 0 ? nullptr : sk_X509_value(chain, length - 1);
  if (last == nullptr || X509_check_issued(last, last) != X509_V_OK)
    return Fail(ErrorCode::kNotFound, "{} does not show the certificate of its CA",
                UrlOf(endpoint));
  return crypto::CertToPem(last);
}

}  // namespace muster::net
