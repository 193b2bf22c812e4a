#pragma once

#include <cstdint>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>

#include <basal/executors/detail/running_on.hpp>

// Where an executor wakes up that another one wakes, and where its thread begins.

namespace basal::executors {

/// The core of a CPU, as the number of its first CPU; `cpu` itself where nothing is known.
/// @param root where /sys is
unsigned read_core(const std::string& root, unsigned cpu) noexcept;

/// The same on this machine. Read once and kept.
unsigned core_of(unsigned cpu) noexcept;

/// A CPU on which no executor runs: `here`, if it is one; else one of a core on which none does if
/// there is one, and the next one after `here`, so that those who ask at the same time spread out.
/// @param allowed the CPUs to choose from
/// @param core    tells the core of a CPU
std::optional<unsigned> free_cpu(const cpu_census& census, const cpu_set_t& allowed, unsigned here,
                                 unsigned (*core)(unsigned) noexcept) noexcept;

/// The CPUs on which a thread may run; 0: the calling one. None if the kernel does not say, as on
/// machines with more CPUs than the set holds.
cpu_set_t allowed_cpus(std::int32_t thread) noexcept;

/// Lets a thread run on `cpu` alone. If it sleeps, it wakes up there.
/// @returns whether the kernel did
bool keep_on(std::int32_t thread, unsigned cpu) noexcept;

/// Those of `allowed` on which no executor runs.
cpu_set_t free_cpus(const cpu_census& census, const cpu_set_t& allowed) noexcept;

/// Lets a thread that has been made, and may not have begun, run on `cpus` alone.
/// @returns whether the kernel did
bool begin_on(pthread_t thread, const cpu_set_t& cpus) noexcept;

/// The calling thread, which was kept on some CPUs, may run again on those that it was allowed
/// before. What others have done to its affinity in the meantime is lost.
void let_move(const cpu_set_t& before) noexcept;

} // namespace basal::executors
