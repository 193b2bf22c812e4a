#include <basal/solver/limits.hpp>

#include <string>

#include <basal/solver/errors.hpp>

namespace basal::solver {

void solver_limits::validate() const {
  if (concurrent_solves == 0)
    throw error{errc::bad_option, "solver_limits: concurrent_solves is 0, so that nothing could "
                                  "ever run; it must be at least 1"};
  if (backpressure == backpressure::wait_timeout && patience < std::chrono::nanoseconds{0})
    throw error{errc::bad_option, "solver_limits: patience is " + std::to_string(patience.count())
                                    + " ns; it must not be negative"};
}

} // namespace basal::solver
