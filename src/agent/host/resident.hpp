#pragma once

namespace muster::agent {

// Unmaps the pages of the program that hold code and constants, and returns free heap. What is
// needed again comes back from the page cache at its next use. An agent uses most of its code once,
// to join or to connect: on a host that has other work it should not stay resident.
void GiveBackMemory();

}  // namespace muster::agent
