#pragma once

namespace muster {

// Of the program. A symbol of its own, so that a test can link a program of another version.
extern const char* const kVersion;

}  // namespace muster
