#include "bench/support/results.hpp"

#include "bench/support/statistics.hpp"

#include <algorithm>

namespace basal::bench {

const case_result& results::at(const std::string& name) const {
  const auto found = std::find_if(cases_.begin(), cases_.end(),
                                  [&](const case_result& c) { return c.name == name; });
  if (found == cases_.end())
    throw not_measured("case '" + name + "' was not run");
  if (!found->error.empty() || found->ns.empty())
    throw not_measured("case '" + name + "' failed");
  return *found;
}

double results::median_ns(const std::string& name) const {
  return median(at(name).ns);
}

double results::counter(const std::string& name, const std::string& counter) const {
  const auto& counters = at(name).counters;
  const auto found = counters.find(counter);
  if (found == counters.end())
    throw not_measured("case '" + name + "' has no counter '" + counter + "'");
  return found->second;
}

} // namespace basal::bench
