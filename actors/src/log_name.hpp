#pragma once

#include <basal/executors/detail/carrier.hpp>

namespace basal::actors {

/// Carries the name of the actor under which CAF logs on a thread to the executor that work is
/// handed over to. Work without such a name carries nothing.
extern const executors::carrier carries_log_name;

} // namespace basal::actors
