#include <basal/solver/batch.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <basal/executors/completion.hpp>
#include <basal/solver/block_stepper.hpp>
#include <basal/solver/detail/solve_scope.hpp>

#include "batch_job.hpp"
#include "core.hpp"

namespace basal::solver {

namespace {

const solver_limits& validated(const solver_limits& limits) {
  limits.validate();
  return limits;
}

} // namespace

batch_solver::batch_solver(executors::executor_pool& pool, solver_limits limits)
  : core_(std::make_unique<core>(&pool, validated(limits))) {
}

batch_solver::batch_solver(solver_limits limits)
  : core_(std::make_unique<core>(nullptr, validated(limits))) {
}

batch_solver::~batch_solver() {
  core_->stop_and_wait();
}

void batch_solver::refuse_inside_a_solve() const {
  if (!solve_scope::active())
    return;
  core_->counters.add(counter::nested);
  throw error{errc::nested, "a batch_solver was called from inside a solve, by a matrix-free "
                            "operator probably; a solve is sequential: call it before or after"};
}

template <class T>
std::uint64_t batch_solver::submit_batch(std::vector<solve_request<T>> requests,
                                         batch_options options,
                                         std::function<void(std::vector<solve_outcome<T>>)> done) {
  refuse_inside_a_solve();
  if (options.block_width > block_stepper<T>::max_width)
    throw error{errc::bad_option, "batch_options: block_width is "
                                    + std::to_string(options.block_width) + "; it must be 0 to "
                                    + std::to_string(block_stepper<T>::max_width)};
  auto batch = core_->last_batch.fetch_add(1, std::memory_order_relaxed) + 1;
  auto made = std::make_unique<batch_job<T>>(*core_, std::move(requests), std::move(options), batch,
                                             std::move(done));
  auto units = made->units();
  made.release()->start(units); // it deletes itself
  return batch;
}

template <class T>
std::uint64_t batch_solver::submit(solve_request<T> request, std::stop_token stop,
                                   std::function<void(solve_outcome<T>)> done) {
  refuse_inside_a_solve();
  std::vector<solve_request<T>> one;
  one.push_back(std::move(request));
  batch_options options{.stop = std::move(stop)};
  auto first = [done = std::move(done)](std::vector<solve_outcome<T>> outcomes) {
    done(std::move(outcomes.front()));
  };
  auto made = std::make_unique<batch_job<T>>(*core_, std::move(one), std::move(options), 0,
                                             std::move(first));
  auto id = made->first_id();
  made.release()->start(1);
  return id;
}

template <class T>
std::vector<solve_outcome<T>> batch_solver::solve_batch(std::vector<solve_request<T>> requests,
                                                        batch_options options) {
  std::vector<solve_outcome<T>> result;
  executors::completion ready;
  submit_batch<T>(std::move(requests), std::move(options), [&](auto outcomes) {
    result = std::move(outcomes);
    ready.set();
  });
  ready.wait();
  return result;
}

template <class T>
solve_outcome<T> batch_solver::solve(solve_request<T> request, std::stop_token stop) {
  solve_outcome<T> result;
  executors::completion ready;
  submit<T>(std::move(request), std::move(stop), [&](auto outcome) {
    result = std::move(outcome);
    ready.set();
  });
  ready.wait();
  return result;
}

event_bus& batch_solver::events() noexcept {
  return core_->events;
}

const solver_limits& batch_solver::limits() const noexcept {
  return core_->limits;
}

solver_stats batch_solver::stats() const noexcept {
  const auto& c = core_->counters;
  const auto solves = core_->solves.total();
  const auto ended = [&](state s) { return solves.ended[static_cast<std::size_t>(s)]; };
  // Before the submitted ones that they were, or the difference could be negative; relaxed loads
  // may change places all the same.
  const auto taken = c.get(counter::taken);
  const auto submitted = c.get(counter::submitted);
  return {
    .solves_completed = std::accumulate(solves.ended.begin(), solves.ended.end(), std::uint64_t{0}),
    .converged = ended(state::converged),
    .stalled = ended(state::stalled),
    .diverged = ended(state::diverged),
    .budget_exhausted = ended(state::budget_exhausted),
    .failed = c.get(counter::failed),
    .rejected = c.get(counter::rejected),
    .timed_out = c.get(counter::timed_out),
    .cancelled = c.get(counter::cancelled),
    .batches = c.get(counter::batches),
    .ticks = c.get(counter::ticks),
    .neumann_terms = c.get(counter::neumann_terms),
    .walks = c.get(counter::walks),
    .latency_ns = solves.latency_ns,
    .blocks = c.get(counter::blocks),
    .running = core_->gate.in_use(),
    .waiting = submitted - std::min(taken, submitted),
    .events_lost = core_->events.lost(),
    .nested_calls = c.get(counter::nested),
    .scratch = core_->scratch.stats(),
    .plans = core_->plans<float>().stats() + core_->plans<double>().stats(),
  };
}

std::vector<method_stats> batch_solver::stats_by_method() const {
  return core_->solves.get();
}

#define BASAL_BATCH_SOLVER(T)                                                                      \
  template std::vector<solve_outcome<T>> batch_solver::solve_batch(std::vector<solve_request<T>>,  \
                                                                   batch_options);                 \
  template solve_outcome<T> batch_solver::solve(solve_request<T>, std::stop_token);                \
  template std::uint64_t batch_solver::submit_batch(                                               \
    std::vector<solve_request<T>>, batch_options,                                                  \
    std::function<void(std::vector<solve_outcome<T>>)>);                                           \
  template std::uint64_t batch_solver::submit(solve_request<T>, std::stop_token,                   \
                                              std::function<void(solve_outcome<T>)>);
BASAL_BATCH_SOLVER(float)
BASAL_BATCH_SOLVER(double)

} // namespace basal::solver
