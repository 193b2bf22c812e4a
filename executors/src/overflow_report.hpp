#pragma once

#include <basal/executors/fwd.hpp>

#include <signal.h>

#include <cstddef>
#include <memory>

namespace basal::executors {

/// Turns a fault in a fiber's guard page into a sentence on stderr that names
/// the work, its stack's size and the remedy; then the program ends as it would
/// have without. Other faults are none of its business and go to whoever
/// handled them before.
///
/// The handler of SIGSEGV is process-wide, installed once with the first
/// executor. Each executor's thread has one of these on its own stack: it gives
/// the handler a stack to run on, since the faulting one is full. Left out under
/// AddressSanitizer and ThreadSanitizer, which report the overflow themselves.
class overflow_report {
public:
  overflow_report();
  ~overflow_report();

  overflow_report(const overflow_report&) = delete;
  overflow_report& operator=(const overflow_report&) = delete;

private:
  static void install();
  static void handle(int number, siginfo_t* info, void* context);
  static void print_if_overflow(const void* fault) noexcept;

  static constexpr std::size_t handler_stack_bytes = 32 * 1024;

  std::unique_ptr<std::byte[]> handler_stack_;
  stack_t before_{};
};

} // namespace basal::executors
