#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "failure.hpp"
#include "value.hpp"

namespace tiered {

/// Limits of one request. A request beyond them has a fault, in the same call in every tier.
struct limits {
  /// Of the language's own count, frame_bytes(). The stacks of threads and fibers that run
  /// programs need about twice this.
  std::int64_t stack_bytes = 4 << 20;

  /// Calls of functions: what bounds the time of a request, since all loops are recursion.
  std::int64_t calls = 1'000'000'000;
};

/// A fault and its place.
struct failure {
  fault what = fault::none;
  position where;
};

/// The end of a request: a value, or the reason why there is none.
struct outcome {
  std::optional<failure> error;
  typed_value value;
};

/// `LINE:COLUMN: cause and remedy`, or the value.
[[nodiscard]] std::string to_string(const outcome& o);

/// The part of a machine that native code reads and writes: plain fields in this order.
struct machine_registers {
  std::int64_t calls_left = 0; ///< calls until machine::look_up
  fault failed = fault::none;  ///< once set, every active call returns
  position where;              ///< of the fault
};

/// The state that all tiers run on: counters, memory for variables, the place of a fault. Serves
/// one request at a time, on any thread; keep it between requests, since its memory is large.
class machine : public machine_registers {
public:
  explicit machine(limits bounds = {});

  /// Prepares for a request. `safepoint` is called about every 1,000 calls, so that other work has
  /// its turn and the request can be cancelled; it may throw, which ends the request. May be empty.
  void begin(std::function<void()> safepoint = {});

  /// Called when no calls are left: lets the safepoint run and fills up calls_left, whose count the
  /// present call is part of. On a fault it returns false.
  [[nodiscard]] bool look_up(position where) noexcept;

  void fail(fault f, position at) noexcept {
    failed = f;
    where = at;
  }

  /// After a request. @throws the exception of the safepoint, if there was one
  void rethrow() const;

  [[nodiscard]] const limits& bounds() const noexcept {
    return bounds_;
  }

  /// Room for the variables of all active calls: callers give each callee what lies behind their
  /// own. No tier needs more than limits::stack_bytes.
  [[nodiscard]] value* variables() noexcept {
    return variables_.get();
  }

  /// A call that waits for another one's result, in the bytecode loop.
  struct caller {
    const void* resume = nullptr; ///< the instruction to go on with
    const void* code = nullptr;
    value* variables = nullptr;
    std::int64_t stack_left = 0;
  };

  /// Kept here for its memory only.
  std::vector<caller> callers;

private:
  limits bounds_;
  std::int64_t calls_beyond_ = 0; ///< that may follow those in calls_left
  std::function<void()> safepoint_;
  std::exception_ptr thrown_;
  std::unique_ptr<value[]> variables_;
};

} // namespace tiered
