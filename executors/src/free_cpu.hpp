#pragma once

#include <optional>
#include <sched.h>
#include <string>

#include <basal/executors/detail/running_on.hpp>

// Where an executor goes that the kernel has woken on the CPU of another one.

namespace basal::executors {

/// The core of a CPU, as the number of its first CPU; `cpu` itself where nothing is known.
/// @param root where /sys is
unsigned read_core(const std::string& root, unsigned cpu) noexcept;

/// The same on this machine. Read once and kept.
unsigned core_of(unsigned cpu) noexcept;

/// A CPU on which no executor runs, one of a core on which none does if there is one; the next one
/// after `here`, so that those who ask at the same time spread out.
/// @param allowed where the caller may run
/// @param core    tells the core of a CPU
std::optional<unsigned> free_cpu(const cpu_census& census, const cpu_set_t& allowed, unsigned here,
                                 unsigned (*core)(unsigned) noexcept) noexcept;

/// The CPUs on which the calling thread may run. None if the kernel does not say, as on machines
/// with more CPUs than the set holds.
cpu_set_t allowed_cpus() noexcept;

/// Moves the calling thread to `cpu`, which takes about 30 us, and lets the kernel move it on from
/// there: afterwards it may run wherever it could before. What others do to its affinity in the
/// meantime is lost.
/// @returns whether the kernel did
bool move_this_thread(unsigned cpu) noexcept;

} // namespace basal::executors
