#pragma once

#include <chrono>
#include <span>
#include <string>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// State of the executors of these pools: the work of each, with the backtrace of its thread, and
/// each suspended fiber with the event that it waits for, for how long, and its backtrace. Fibers
/// with the same backtrace are told together. For people to read.
///
/// Each executor's thread answers in a handler of the signal SIGURG, so that the answer needs no
/// lock and no safepoint: also while the executor is blocked, unless it is so in an uninterruptible
/// system call. A handler's system call may return EINTR for it, as for any other signal; most are
/// begun again by the kernel (SA_RESTART). An executor that has not answered after `patience` is
/// said not to.
///
/// Any thread; one dump at a time, others wait. The first call replaces the program's handler of
/// SIGURG, which is usually none. The pools must not be destroyed in the meantime.
///
/// Backtraces are known on x86-64 alone. They name exported functions, else the place in the file,
/// for `addr2line -Cfe FILE OFFSET`; programs that are linked with -rdynamic export all.
std::string dump(std::span<executor_pool* const> pools,
                 std::chrono::milliseconds patience = std::chrono::milliseconds{1000});

} // namespace basal::executors
