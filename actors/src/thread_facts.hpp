#pragma once

#include "warning_rules.hpp"

#include <basal/executors/executor.hpp>

#include <string>

namespace basal::actors {

/// Facts about an executor's thread, from outside: reads files of /proc and the executor's flight
/// recording, and does not disturb the thread. Any thread.
/// @param all  also its work and its function in the kernel, for three files instead of one
thread_facts facts_of(const executors::executor& e, bool all);

/// The executor's work of now, as far as its flight recording says; without one, the kind of the
/// work. Empty if it runs nothing. Does not disturb it. Any thread.
std::string work_of(const executors::executor& e);

/// Time in ns that the hypervisor has taken from each CPU, on average, since the machine's start;
/// in units of 10 ms, mostly. 0 where the kernel does not say. Reads a file of /proc.
std::uint64_t stolen_ns();

} // namespace basal::actors
