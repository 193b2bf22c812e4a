#pragma once

#include <csignal>
#include <cstddef>
#include <optional>
#include <sched.h>
#include <vector>

namespace basal::executors {

/// Attributes that a thread inherits from its maker: usable CPUs, scheduling policy and priority,
/// niceness, blocked signals. A thread that begins when it is first needed is made by the thread
/// that needs it, which may be pinned, of a real-time class or deaf to signals; so it takes on the
/// attributes of another thread, such as the maker of its system.
class thread_heritage {
public:
  /// Of the calling thread.
  thread_heritage();

  /// Gives it to the calling thread, as far as the kernel allows: a thread may become nicer to
  /// others, but not always less nice.
  /// @param with_cpus false: except for the CPUs
  void take_on(bool with_cpus = true) const noexcept;

  /// Nothing where the kernel does not say, or has more CPUs than the set holds.
  std::optional<cpu_set_t> cpus() const noexcept;

private:
  std::vector<std::byte> cpus_; ///< the kernel's mask; empty where it does not say
  sigset_t blocked_{};
  int policy_ = 0;
  int priority_ = 0;
  int nice_ = 0;
};

/// Blocks all signals of the calling thread for as long as this lives: a thread that is made in the
/// meantime gets none before it has taken on its heritage.
class no_signals {
public:
  no_signals() noexcept;
  ~no_signals();
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

private:
  sigset_t before_{};
};

} // namespace basal::executors
