#include <basal/cluster/manifest.hpp>

#include <cstdio>

namespace basal::cluster {

std::string manifest::text() const {
  const auto n = [](std::uint64_t x) { return std::to_string(x); };
  char times[64];
  std::snprintf(times, sizeof times, "%.3f s computed, %.3f s of it lost", seconds, seconds_lost);
  auto result = n(results) + " of " + n(items) + " items have results (" + n(resumed)
                + " from the journal), " + n(poisoned.size()) + " are poisoned; " + n(duplicates)
                + " duplicates, " + n(mismatches) + " mismatches, " + n(corrected) + " corrected, "
                + n(checked) + " checked, " + n(redeliveries) + " redelivered, " + n(reposted)
                + " posted again; " + times;
  for (const auto& worker : quarantined)
    result += "; in quarantine: " + worker;
  return result;
}

} // namespace basal::cluster
