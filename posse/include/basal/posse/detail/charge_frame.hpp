#pragma once

#include <atomic>

#include <basal/executors/detail/carrier.hpp>
#include <basal/executors/detail/fiber.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// A frame in the list that finds the account to charge for heap memory: on each fiber, from the
/// innermost out, one for each member that runs on the fiber and each open charge_scope. The
/// fiber's attachment points to the innermost frame; a dump finds members there, too.
///
/// A stolen branch is charged to the account that was in force at its fork,
/// which need not be the one in force at the theft: the left branch may have
/// opened a scope since. So a scope remembers the youngest fork before it.
struct charge_frame {
  charge_frame* outer;

  /// The innermost member, or null.
  const member* running;

  /// Its youngest node when the frame began: that one and older ones are forks
  /// outside of the scope. Null: none.
  const right_continuation* youngest;

  void* account; ///< a gc::account; null: nobody pays
};

inline charge_frame* innermost_charge(executors::fiber& f) noexcept {
  return static_cast<charge_frame*>(f.attachment());
}

/// The computation that `m` belongs to.
computation& origin_of(const member& m) noexcept;

/// Begins a scope inside of `outer`, which may be null.
void open_charge(charge_frame& f, charge_frame* outer, void* account) noexcept;

/// By which work carries its account; null where no heap is linked. Written once,
/// before main(). Release and acquire: the table is seen whole.
inline constinit std::atomic<const executors::carrier*> account_carrier{nullptr};

} // namespace basal::posse::detail
