#include <basal/priority/tiering.hpp>

#include <stdexcept>
#include <string>

namespace basal::priority {

void tiering_config::validate() const {
  if (thresholds.empty() || thresholds.size() > most_tiers)
    throw std::invalid_argument("basal: tiering_config::thresholds has "
                                + std::to_string(thresholds.size()) + " elements, not 1 to "
                                + std::to_string(most_tiers) + ": one for each tier above 0");
  std::uint64_t before = 0;
  for (const auto threshold : thresholds) {
    if (threshold <= before)
      throw std::invalid_argument("basal: tiering_config::thresholds has "
                                  + std::to_string(threshold) + " after " + std::to_string(before)
                                  + "; the first is at least 1, and each one above those before");
    before = threshold;
  }
}

} // namespace basal::priority
