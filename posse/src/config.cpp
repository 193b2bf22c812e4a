#include <basal/posse/config.hpp>

#include <stdexcept>
#include <string>

namespace basal::posse {

void runtime_config::validate() const {
  if (quantum < min_quantum || quantum > max_quantum)
    throw std::invalid_argument("basal: quantum is " + std::to_string(quantum.count())
                                + " ns; it must be between " + std::to_string(min_quantum.count())
                                + " and " + std::to_string(max_quantum.count()) + " ns");
  if (stay < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("basal: stay is " + std::to_string(stay.count())
                                + " ns; it must be 0 or more");
  // The rest is checked by the pool that it is handed to.
}

executors::pool_config runtime_config::pool() const {
  executors::pool_config result;
  result.executors = compute_executors;
  result.stack_bytes = stack_bytes;
  result.quantum = quantum;
  result.pin = pin;
  result.record = record;
  result.simulate = simulate;
  return result;
}

} // namespace basal::posse
