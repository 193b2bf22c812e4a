#pragma once

#include <basal/executors/executor_pool.hpp>
#include <basal/solver/batch.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace solve {

/// The executors that solve. An observer shows an actor system; where there is one, these are the
/// system's compute executors, and no actor is spawned.
class solving_pool {
public:
  /// @param observe address of the observer; empty: none
  solving_pool(std::size_t executors, const std::string& observe);
  ~solving_pool();

  basal::executors::executor_pool& executors() noexcept;

  /// The observer shows what `solver` does, until the result is destroyed, which must be before the
  /// solver is. Null where there is no observer.
  std::shared_ptr<void> show(const basal::solver::batch_solver& solver);

private:
  struct observed;

  std::unique_ptr<basal::executors::executor_pool> own_; ///< null where it is observed
  std::unique_ptr<observed> observed_;
};

} // namespace solve
