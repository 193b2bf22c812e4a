#pragma once

#include <basal/executors/detail/carrier.hpp>

namespace basal::actors {

/// Under which actor's name CAF logs, which it keeps for each thread: work that is handed over to
/// another executor brings it along. What CAF logs nothing for carries nothing.
extern const executors::carrier carries_log_name;

} // namespace basal::actors
