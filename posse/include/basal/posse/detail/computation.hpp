#pragma once

#include <basal/executors/fwd.hpp>
#include <basal/posse/detail/function_record.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// What the members of one posse share. Lives in the frame of the call that
/// began it, which outlives all members.
class computation {
public:
  computation(runtime& its_host, function_record* its_function,
              executors::stopwatch* its_account) noexcept
    : host(its_host), function(its_function), account(its_account) {
  }

  computation(const computation&) = delete;
  computation& operator=(const computation&) = delete;

  /// For reports.
  const char* name() const noexcept {
    return function != nullptr ? function->name.load(std::memory_order_relaxed) : "a computation";
  }

  runtime& host;
  function_record* function;     ///< null for an undeclared function
  executors::stopwatch* account; ///< measures its caller; null if nobody does
};

} // namespace basal::posse::detail
