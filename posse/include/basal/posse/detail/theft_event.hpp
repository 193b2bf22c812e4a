#pragma once

#include <cstddef>
#include <cstdint>

#include <basal/executors/fwd.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse {

/// One theft, as the victim's executor saw it.
struct theft_event {
  const void* computation = nullptr; ///< tells computations of the moment apart
  const executors::executor* from = nullptr;
  const executors::executor* to = nullptr;

  /// Taken by an executor for itself, when a delegate there ended or waited.
  bool seamless = false;

  /// The facts that the decision was made on; not set for a seamless theft.
  theft_view view;

  /// By hysteresis::quantum: ends of quanta, or the first one's beginning, at which
  /// the continuation was seen: at least 2. Else 0.
  std::uint32_t age = 0;

  /// Ready continuations of the same computation on this executor that are more
  /// basal: 0. Counted only for this event, by a walk over all of them.
  std::size_t more_basal = 0;

  std::size_t cabal_size = 0;
  std::size_t context_bytes = 0; ///< the computation's on `to`
};

/// A function that is told of thefts, for traces and tests. Called on the victim's executor, from
/// the middle of its work: must be quick and not throw.
struct theft_observer {
  void (*saw)(void* context, const theft_event& event) noexcept = nullptr;
  void* context = nullptr;
};

} // namespace basal::posse
