#pragma once

#include <string>
#include <string_view>

// How servers read the path of a url. They differ, and a rule about paths must not depend on which
// one answers.
namespace muster::outside {

// Whether some servers go up a folder, or into one, where others do not: "%2e%2e", "%2f", "%5c",
// "%25", "\", "..;a=b". Such a path says one thing here and may mean another there.
bool IsAmbiguous(std::string_view path) noexcept;

// The most lenient reading: %XX decoded, "//" as "/", segments without ";a=b", dots resolved, lower
// case. Two paths with one reading may lead to the same place.
std::string LenientReading(std::string_view path);

// With each %XX as the byte it stands for; other "%" stay.
std::string PercentDecoded(std::string_view text);

// ASCII letters only.
std::string InLowerCase(std::string_view text);

}  // namespace muster::outside
