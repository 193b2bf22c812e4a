#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// A fiber in a dump, as the module sees it that keeps something on fibers (fiber::attachment).
struct dumped_fiber {
  const executor& home;                  ///< its executor
  const char* waits_for;                 ///< null: it runs
  std::chrono::nanoseconds waited;       ///< so far; 0 where it runs
  std::span<const std::uintptr_t> words; ///< dump_part::note wrote them
};

/// A paragraph of a dump that a module above writes.
class dump_part {
public:
  static constexpr std::size_t most_words = 64; ///< of one fiber

  virtual ~dump_part() = default;

  /// Notes what the module keeps on `f`, a fiber that runs or is suspended. Called in a signal
  /// handler on the thread of the fiber's executor: without malloc, without locks.
  /// @returns the number of words written
  virtual std::size_t note(fiber& f, bool runs, std::span<std::uintptr_t> words) noexcept = 0;

  /// Gets each fiber that has words, when all executors have answered.
  virtual void add(const dumped_fiber& f) = 0;

  /// The paragraph, when all fibers were added; it follows the executors.
  virtual std::string text() = 0;
};

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
/// @param more what a module above adds; null: nothing
std::string dump(std::span<executor_pool* const> pools,
                 std::chrono::milliseconds patience = std::chrono::milliseconds{1000},
                 dump_part* more = nullptr);

} // namespace basal::executors
