#pragma once

#include <string>
#include <string_view>

// What nodes tell of their certificates, as facts in Hello. By them the server knows who needs new
// papers, and an operator who still depends on an old CA.
namespace muster::link {

inline constexpr std::string_view kFactCa = "ca";  // ShortId of the CA that signed its own
inline constexpr std::string_view kFactTrusts =
    "trusts";  // ShortId of SHA-256 over the CAs it trusts
inline constexpr std::string_view kFactCertEnds = "cert_ends";

inline std::string ShortId(std::string_view hex) { return std::string(hex.substr(0, 16)); }

}  // namespace muster::link
