#pragma once

#include <basal/executors/fwd.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// Work that a pool's executors take when they find nothing else, before they
/// sleep. So it comes after whatever was submitted, delivered, stolen or has
/// yielded; while there is any of that, an executor takes a piece only if some
/// has waited for pool_config::background_after.
///
/// A pool has at most one source, which it owns; see
/// executor_pool::adopt_background(). The order of pieces is the source's affair.
class background_source {
public:
  virtual ~background_source() = default;

  /// The next piece, or nothing. On the thread of `self`.
  virtual work_item take(executor& self) noexcept = 0;

  /// Whether take() would find nothing. Any thread. Executors look here a last
  /// time before they sleep, so it must read in seq_cst what adding a piece
  /// writes in seq_cst; see basic_sleepers.
  virtual bool empty() const noexcept = 0;

  /// The pool stops: from now on no piece is accepted. take() still finds those
  /// that were.
  virtual void close() noexcept = 0;

  /// The pool has stopped and nobody takes pieces any more: gives back what is
  /// left. After close().
  virtual void abandon() noexcept = 0;
};

} // namespace basal::executors
