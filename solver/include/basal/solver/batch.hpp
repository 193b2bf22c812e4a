#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>
#include <vector>

#include <basal/executors/fwd.hpp>
#include <basal/solver/budget.hpp>
#include <basal/solver/errors.hpp>
#include <basal/solver/events.hpp>
#include <basal/solver/limits.hpp>
#include <basal/solver/linear_operator.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/solve_result.hpp>
#include <basal/solver/stats.hpp>

namespace basal::solver {

/// One system to solve. T is float or double.
template <class T>
struct solve_request {
  /// A matrix of which nothing is known yet. Requests that share it and have the same
  /// options share the analysis: those of a batch, and later ones as long as
  /// solver_limits::plan_cache_bytes allows.
  struct unplanned {
    linear_operator<T> a;       ///< the matrix
    solve_options options = {}; ///< of its analysis and its solve
  };

  /// A request whose matrix is analysed first, unless a plan for it is at hand. `right_hand_side`
  /// has as many numbers as `a` has rows; that is checked when it is solved.
  solve_request(linear_operator<T> a, std::vector<T> right_hand_side, solve_options options = {},
                budget allowed = {})
    : problem(unplanned{std::move(a), options}), b(std::move(right_hand_side)), limits(allowed) {
  }

  /// With a plan that was made before; its options hold.
  solve_request(solve_plan<T> plan, std::vector<T> right_hand_side, budget allowed = {})
    : problem(std::move(plan)), b(std::move(right_hand_side)), limits(allowed) {
  }

  /// The matrix, or a plan that was made for it.
  std::variant<unplanned, solve_plan<T>> problem;
  std::vector<T> b; ///< the right-hand side
  budget limits;    ///< of the solve
};

/// The end of a request: a failure or a result.
template <class T>
struct solve_outcome {
  std::uint64_t id = 0;                      ///< as in events; from 1
  std::optional<error> failure;              ///< if set, `result` says nothing
  solve_result<T> result;                    ///< in whichever state it ended
  budget_kind exhausted = budget_kind::none; ///< the limit that ended it
  std::uint64_t ticks = 0;                   ///< dispatches of the tick scheduler
  std::chrono::nanoseconds elapsed{0};       ///< from its permit to its result
};

/// How far a batch is.
struct batch_progress {
  std::size_t done = 0;  ///< requests that ended, in whichever way
  std::size_t total = 0; ///< requests of the batch
};

/// How a batch is solved. The defaults are right for most.
struct batch_options {
  /// When it is used, solves end within about 100 us of a tick and those that
  /// wait do not begin; all of them fail with errc::cancelled.
  std::stop_token stop = {};

  /// Called from executors, one call at a time, with `done` growing; not for
  /// every request if they end faster than it returns, but for the last one.
  /// Short, no solving, no exception.
  std::function<void(batch_progress)> on_progress = {};

  /// Right-hand sides of one matrix that are solved together where the method
  /// allows, so that the matrix is read once for all of them: 1 for never, at most
  /// block_stepper's max_width; 0 chooses 8 where that pays, for 16 right-hand sides or
  /// more of a matrix with 16 entries a row or more. Depends on the requests only, never
  /// on executors, so that results do not.
  std::uint32_t block_width = 0;
};

/// Solves systems on the executors of a pool: many at a time, each sequential on
/// one thread. Every member but the destructor may be called from any thread.
///
/// A batch is spread over as many lanes as there are executors (and permits).
/// Each lane has a range of the requests and, when it has done them, takes the
/// upper half of another lane's. A lane lets other work of its executor have a turn
/// between ticks. No executor's thread ever blocks: a lane that finds no permit
/// leaves its executor and comes back with one; who calls solve() on an executor
/// waits as a suspended fiber.
///
/// The results are the same, bit for bit, for any number of executors.
class batch_solver {
public:
  /// Starts no thread.
  /// @param limits of all of its solves together
  /// @param pool must outlive it, and must not be destroyed while requests run
  /// @throws error{bad_option} see solver_limits::validate
  explicit batch_solver(executors::executor_pool& pool, solver_limits limits = {});

  /// Without a pool: everything runs on the calling thread, in order.
  explicit batch_solver(solver_limits limits);

  /// Ends what runs with errc::stopped and waits until all has ended; on an
  /// executor, as a suspended fiber. No other member may be called meanwhile.
  ~batch_solver();

  batch_solver(const batch_solver&) = delete;
  batch_solver& operator=(const batch_solver&) = delete;

  /// Solves all requests; outcome i belongs to request i. One that fails does so
  /// alone. Of no requests the outcome is empty.
  /// @throws error{nested} when called from inside a solve, error{bad_option} for a
  ///         block_width out of range, std::bad_alloc
  template <class T>
  std::vector<solve_outcome<T>> solve_batch(std::vector<solve_request<T>> requests,
                                            batch_options options = {});

  /// Solves one request. @throws as solve_batch; other errors are in the outcome.
  template <class T>
  solve_outcome<T> solve(solve_request<T> request, std::stop_token stop = {});

  /// Like solve_batch(), but returns at once. `done` is called once, on an executor or,
  /// when the pool has stopped, on this thread; it must not throw. Waiting requests
  /// cost memory only, no thread and no stack.
  /// @returns the batch's id in events
  template <class T>
  std::uint64_t submit_batch(std::vector<solve_request<T>> requests, batch_options options,
                             std::function<void(std::vector<solve_outcome<T>>)> done);

  /// Like solve(), but returns at once. @returns the solve's id
  template <class T>
  std::uint64_t submit(solve_request<T> request, std::stop_token stop,
                       std::function<void(solve_outcome<T>)> done);

  /// The bus that tells about its solves. Any thread.
  event_bus& events() noexcept;

  /// Its counts so far. Any thread.
  solver_stats stats() const noexcept;

  /// Its completed solves so far, one element for each method. Any thread.
  std::vector<method_stats> stats_by_method() const;

  /// The limits that it was made with. Constant.
  const solver_limits& limits() const noexcept;

  class core; // of the implementation

private:
  void refuse_inside_a_solve() const;

  std::unique_ptr<core> core_;
};

#define BASAL_BATCH_SOLVER(T)                                                                      \
  extern template std::vector<solve_outcome<T>> batch_solver::solve_batch(                         \
    std::vector<solve_request<T>>, batch_options);                                                 \
  extern template solve_outcome<T> batch_solver::solve(solve_request<T>, std::stop_token);         \
  extern template std::uint64_t batch_solver::submit_batch(                                        \
    std::vector<solve_request<T>>, batch_options,                                                  \
    std::function<void(std::vector<solve_outcome<T>>)>);                                           \
  extern template std::uint64_t batch_solver::submit(solve_request<T>, std::stop_token,            \
                                                     std::function<void(solve_outcome<T>)>);
BASAL_BATCH_SOLVER(float)
BASAL_BATCH_SOLVER(double)
#undef BASAL_BATCH_SOLVER

} // namespace basal::solver
