/// Counts of a worker.
#pragma once

#include <cstdint>
#include <string>

namespace basal::cluster {

/// Counts of one call of serve().
struct worker_report {
  std::uint64_t items = 0;      ///< that it has answered
  std::uint64_t failures = 0;   ///< of these: without a result
  std::uint64_t given_back = 0; ///< messages that it had and did not begin
  std::string quarantine;       ///< why a coordinator sent it away; empty: none did
};

} // namespace basal::cluster
