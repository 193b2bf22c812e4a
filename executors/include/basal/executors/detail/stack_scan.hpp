#pragma once

#include <atomic>
#include <cstddef>

#include <basal/executors/detail/fiber.hpp>
#include <basal/executors/executor.hpp>

namespace basal::executors {

/// Facts about fibers for a conservative collector that stops threads: on which stack an executor's
/// thread is, and where the others were left. No part of the module uses it.
///
/// A thread that is stopped in the middle of a switch is on neither stack. So
/// before it stops the threads, the collector holds the switches:
///
///     collector                            executor about to switch
///     ---------                            ------------------------
///     hold_switches(): held_ = true        switching_ = true
///       membarrier                         (compiler barrier)
///     wait while is_switching(e)           held_? switching_ = false, wait
///     stop the threads                     jump; running_ = the new fiber
///     allow_switches()                     switching_ = false
///
/// Each side writes before it reads. The membarrier system call makes the
/// executor's pair as good as one with a fence between, so that a switch costs
/// two stores to its own cache line and a load that is never written while
/// nobody collects (asymmetric Dekker: Dice, Huang, Yang, "Asymmetric Dekker
/// Synchronization", 2001).
class stack_scan {
public:
  /// Any thread, before the others: may fail where the kernel lacks membarrier
  /// (Linux 4.14) or a sandbox forbids it.
  /// @throws std::system_error
  static void prepare();

  /// After it has returned, no executor begins a switch. One thread at a time,
  /// which must not switch itself before allow_switches().
  static void hold_switches() noexcept;

  /// Once the threads of interest stand still, or go on.
  static void allow_switches() noexcept;

  /// Whether `e` is in the middle of a switch; while switches are held this
  /// becomes false within that switch's few nanoseconds of running time.
  static bool is_switching(const executor& e) noexcept {
    return e.switching_.load(std::memory_order_acquire);
  }

  // -- of an executor whose thread stands still outside a switch ---------------

  /// The highest address of the stack that its thread is on; null if that is the
  /// thread's own.
  static std::byte* running_top(const executor& e) noexcept {
    const auto* f = e.running_;
    return f == nullptr || f == &*e.native_ ? nullptr : f->stack_.top();
  }

  /// Where its thread has left its own stack, saved registers included; null if it is on that. The
  /// used part ends where the thread's stack does: of a lent thread (executor_pool::host) it holds
  /// its callers' frames.
  static std::byte* left_native_at(const executor& e) noexcept {
    return running_top(e) == nullptr ? nullptr : static_cast<std::byte*>(e.native_->context_);
  }

  /// Calls `visit(low, high)` for the used part of the stack of each of its
  /// fibers but the running one, saved registers included.
  template <class Visit>
  static void for_each_suspended(const executor& e, Visit visit) {
    for (auto* f = e.fibers_.load(std::memory_order_acquire); f != nullptr; f = f->next_of_home_)
      if (f != e.running_)
        visit(static_cast<std::byte*>(f->context_), f->stack_.top());
  }

private:
  friend class executor;
  friend class fiber;

  /// Owner only, or before its thread starts. Release: a signal handler that
  /// interrupts this thread sees a whole list.
  static void add(executor& home, fiber& f) noexcept {
    auto* next = home.fibers_.load(std::memory_order_relaxed);
    f.next_of_home_ = next;
    if (next != nullptr)
      next->previous_of_home_ = &f;
    home.fibers_.store(&f, std::memory_order_release);
  }

  /// The same. One store takes `f` out for whoever stops this thread, before or
  /// after it; what `f` itself links to stays until its memory goes.
  static void remove(executor& home, fiber& f) noexcept {
    auto* previous = f.previous_of_home_;
    auto* next = f.next_of_home_;
    if (next != nullptr)
      next->previous_of_home_ = previous;
    if (previous != nullptr)
      previous->next_of_home_ = next;
    else
      home.fibers_.store(next, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  [[gnu::always_inline]] static void begin_switch(executor& e) noexcept {
    e.switching_.store(true, std::memory_order_relaxed);
    // The store above and the load below stay in this order for whoever issues
    // a membarrier between its own store and load: hold_switches().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (held_.load(std::memory_order_relaxed)) [[unlikely]]
      wait_until_allowed(e);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  /// Release: whoever sees the end sees `running_` and where the other fiber was
  /// left.
  [[gnu::always_inline]] static void end_switch(executor& e) noexcept {
    e.switching_.store(false, std::memory_order_release);
  }

  [[gnu::noinline, gnu::cold]] static void wait_until_allowed(executor& e) noexcept;

  /// Written by the collector, read at every switch.
  alignas(64) inline static constinit std::atomic<bool> held_{false};
};

} // namespace basal::executors
