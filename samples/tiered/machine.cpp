#include "machine.hpp"

#include <algorithm>
#include <utility>

namespace tiered {

namespace {

// Calls between two safepoints: 10 us in the tree walk, so that a quantum ends on time.
constexpr std::int64_t calls_between_safepoints = 1000;

} // namespace

std::string to_string(const outcome& o) {
  return o.error ? at(o.error->where, describe(o.error->what)) : to_string(o.value);
}

machine::machine(limits bounds)
  : bounds_(bounds),
    // Not initialised: pages that no recursion reaches cost no memory.
    variables_(std::make_unique_for_overwrite<value[]>(static_cast<std::size_t>(bounds.stack_bytes)
                                                       / sizeof(value))) {
}

void machine::begin(std::function<void()> safepoint) {
  safepoint_ = std::move(safepoint);
  thrown_ = nullptr;
  failed = fault::none;
  calls_left = 0;
  calls_beyond_ = bounds_.calls;
  callers.clear();
}

bool machine::look_up(position at) noexcept {
  const std::int64_t more = std::min(calls_between_safepoints, calls_beyond_);
  if (more == 0) {
    fail(fault::too_many_calls, at);
    return false;
  }
  calls_beyond_ -= more;
  calls_left = more - 1;
  if (!safepoint_)
    return true;
  try {
    safepoint_();
    return true;
  } catch (...) {
    // Not through native frames, which have no tables for unwinding.
    thrown_ = std::current_exception();
    fail(fault::interrupted, at);
    return false;
  }
}

void machine::rethrow() const {
  if (thrown_)
    std::rethrow_exception(thrown_);
}

} // namespace tiered
