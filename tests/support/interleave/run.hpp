#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/interleave/coroutine.hpp"
#include "support/interleave/explore.hpp"
#include "support/interleave/view.hpp"

namespace basal::interleave {

/// A point at which two or more things may happen.
enum class choice {
  successor,  ///< a thread blocked or ended: who goes on
  preemption, ///< a thread could go on: does it (0), or another
  anomaly,    ///< 0: the usual; else an old value, a spurious failure or return
};

/// Decides. One for each way to explore.
class chooser {
public:
  virtual ~chooser() = default;

  /// @returns a number below `options`, which is at least 2
  virtual std::uint32_t choose(choice kind, std::uint32_t options) = 0;
};

/// Thrown through the scenario when a run has failed.
struct violation {};

/// One execution of a scenario under one schedule.
///
/// Modelled are: every operation on an atomic, a mutex or a futex, as a point at which another
/// thread may go on. Stores enter the modification order of their atomic as they are executed. A
/// load may return any store that coherence and the thread's knowledge (see view) permit: so a
/// missing release or acquire shows as an old value or as a data race on a `plain`, and a missing
/// seq_cst as two threads that miss each other's store. Release sequences, failing weak
/// compare-exchanges and spurious futex returns are modelled. A seq_cst load sees the newest
/// seq_cst store or a newer store; as in C++20, seq_cst says nothing about other atomics' stores of
/// lesser order.
///
/// Not modelled are: fences (use none in code under test), stores that take effect later than a
/// thread's following operations (load buffering), consume, atomics of more than 4 stores' history
/// (older values are never returned), and old values seen by a failing compare-exchange.
class run {
public:
  /// All of the arguments outlive the run.
  run(chooser& c, const limits& bounds, std::deque<coroutine>& stacks, bool traced);
  ~run();

  run(const run&) = delete;
  run& operator=(const run&) = delete;

  // -- for scenarios ----------------------------------------------------------

  /// Declares a thread. Its frames must own no memory: they are not unwound
  /// when the run fails or the thread sleeps for ever. `may_sleep`: at the end
  /// it may be blocked.
  void thread(std::string_view name, std::function<void()> body, bool may_sleep = false);

  /// Declares what must hold after every operation. Operations on atomics in
  /// `check` see the newest values and are no scheduling points.
  void always(std::function<void()> check) {
    invariant_ = std::move(check);
  }

  /// Runs the threads to their ends. All of them blocked is a failure, but for
  /// those that may sleep.
  /// @throws violation when the run has failed
  void go();

  // -- for the instrumented primitives ----------------------------------------

  /// The run that is being executed, or null.
  static run* current() noexcept;

  /// Opens an operation: lets other threads go first.
  void point();

  /// Makes the running thread sleep on `address` until wake() names it.
  void block(const void* address);

  /// Ends the sleep of the first thread that sleeps on `address`, if any.
  void wake(const void* address) noexcept;

  std::uint32_t choose(choice kind, std::uint32_t options);

  /// Ends the run as a failure. From a logical thread it does not return, so
  /// the caller's frame should own nothing.
  void fail(std::string_view what);
  void fail(std::string_view what, std::int64_t number);

  /// Outside of threads, and inside of invariants, operations just happen.
  bool observing() const noexcept {
    return observing_ || running_ == 0;
  }

  std::size_t thread_number() const noexcept {
    return running_;
  }

  view& knowledge() noexcept {
    return threads_[running_].known;
  }

  /// After a release: what the thread does from here on was not released.
  void tick() noexcept {
    ++threads_[running_].known.clock[running_];
  }

  std::uint32_t new_atomic();

  bool traced() const noexcept {
    return traced_ && !observing_;
  }

  /// Adds a line to the trace, in the name of the running thread.
  void note(std::string line);

private:
  friend class explorer;

  enum class state { ready, blocked, ended };

  struct deviation {
    std::uint32_t position;
    std::uint32_t choice;
  };

  struct logical_thread {
    std::string name;
    std::function<void()> body;
    bool may_sleep = false;
    state now = state::ready;
    const void* asleep_on = nullptr;
    view known;
  };

  void start_threads();
  void run_thread();
  void pass_on();
  void check_invariant();
  void note_failure(std::string_view what);
  void end_as_failure();
  void switch_to(std::size_t next);

  chooser& chooser_;
  const limits& bounds_;
  std::deque<coroutine>& stacks_; ///< number 0 is the scenario's own
  const bool traced_;
  bool observing_ = false;
  bool starting_ = false;
  std::size_t running_ = 0; ///< 0: the scenario itself
  std::vector<logical_thread> threads_;
  std::function<void()> invariant_;
  std::uint32_t atomics_ = 0;
  std::uint32_t steps_ = 0;
  std::uint32_t choices_ = 0;
  std::vector<deviation> deviations_;
  std::string failure_;
  std::vector<std::string> trace_;
};

/// Fails the run unless `condition` holds. In threads, invariants, and
/// scenarios after go().
inline void check(bool condition, std::string_view what) {
  if (!condition)
    run::current()->fail(what);
}

/// The same; `number` is added to `what`.
inline void check(bool condition, std::string_view what, std::int64_t number) {
  if (!condition)
    run::current()->fail(what, number);
}

} // namespace basal::interleave
