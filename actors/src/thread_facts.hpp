#pragma once

#include "warning_rules.hpp"

#include <basal/executors/executor.hpp>

namespace basal::actors {

/// Facts about an executor's thread, from outside: reads files of /proc and the executor's flight
/// recording, and does not disturb the thread. Any thread.
/// @param all  also its work and its function in the kernel, for three files instead of one
thread_facts facts_of(const executors::executor& e, bool all);

} // namespace basal::actors
