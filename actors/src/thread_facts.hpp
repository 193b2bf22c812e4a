#pragma once

#include "warning_rules.hpp"

#include <basal/executors/executor.hpp>

namespace basal::actors {

/// What is known of an executor's thread from outside: reads files of /proc and the executor's
/// flight recording, and does not disturb it. Any thread.
/// @param all  also what it does and where it sleeps, which takes three files instead of one
thread_facts facts_of(const executors::executor& e, bool all);

} // namespace basal::actors
