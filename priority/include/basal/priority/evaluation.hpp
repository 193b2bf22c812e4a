#pragma once

#include <basal/priority/fwd.hpp>

namespace basal::priority {

/// While it lives, somebody evaluates: background_pool::spawn() uses priorities
/// when two or more do. Evaluations inside another one on the same thread are
/// part of it. Leaves when the scope is left by an exception, too.
///
/// Fibers that take turns on one thread count as one evaluation: they do not
/// run at the same time. Not to be moved to another thread.
class [[nodiscard]] evaluation {
public:
  /// `pool` must outlive it.
  explicit evaluation(background_pool& pool) noexcept;
  ~evaluation();

  evaluation(const evaluation&) = delete;
  evaluation& operator=(const evaluation&) = delete;

private:
  bool only_one() const noexcept;

  background_pool& pool_;
  evaluation* older_; ///< of the same thread; so is the next
  evaluation* younger_ = nullptr;
};

} // namespace basal::priority
