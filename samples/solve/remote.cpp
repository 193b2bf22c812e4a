#include "remote.hpp"

#include <basal/cluster/cluster.hpp>
#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/solve.hpp>

#include <memory>
#include <mutex>
#include <ranges>
#include <utility>

namespace solve {

namespace {

namespace cluster = basal::cluster;
namespace posse = basal::posse;
namespace solver = basal::solver;

/// A matrix and how to solve with it, as it travels. A worker makes the plan for the first
/// right-hand side and keeps it for the others.
class linear_system {
public:
  linear_system() = default;
  linear_system(const solver::csr_matrix<double>& a, const solver::solve_options& options)
    : size_(a.rows()),
      starts_(a.row_starts().begin(), a.row_starts().end()),
      columns_(a.column_indices().begin(), a.column_indices().end()),
      values_(a.values().begin(), a.values().end()),
      method_(options.method),
      tolerance_(options.tolerance),
      iteration_limit_(options.iteration_limit) {
  }

  /// Any thread. @throws solver::error
  const solver::solve_plan<double>& plan() const {
    std::call_once(made_->once, [this] {
      const solver::linear_operator<double> a{std::make_shared<const solver::csr_matrix<double>>(
        size_, size_, starts_, columns_, values_)};
      const solver::solve_options options{
        .method = method_, .tolerance = tolerance_, .iteration_limit = iteration_limit_};
      made_->plan = std::make_unique<solver::solve_plan<double>>(a, options);
    });
    return *made_->plan;
  }

  template <class Fields>
  friend auto inspect(Fields& f, linear_system& s) {
    return f(s.size_, s.starts_, s.columns_, s.values_, s.method_, s.tolerance_,
             s.iteration_limit_);
  }

private:
  struct made {
    std::once_flag once;
    std::unique_ptr<const solver::solve_plan<double>> plan;
  };

  solver::index_type size_ = 0;
  std::vector<solver::index_type> starts_;
  std::vector<solver::index_type> columns_;
  std::vector<double> values_;
  solver::method method_ = solver::method::automatic;
  double tolerance_ = 0;
  std::uint64_t iteration_limit_ = 0;
  std::shared_ptr<made> made_ = std::make_shared<made>();
};

struct solution {
  solver::state state = solver::state::running;
  std::vector<double> x;
  std::uint64_t iterations = 0;
  double residual = 1;
  solver::method chosen = solver::method::automatic;
  solver::preconditioning preconditioner = solver::preconditioning::none;
};

template <class Fields>
auto inspect(Fields& f, solution& s) {
  return f(s.state, s.x, s.iterations, s.residual, s.chosen, s.preconditioner);
}

solution solve_one(posse::member&, const linear_system& system, const std::vector<double>& b) {
  auto found = solver::solve(system.plan(), std::span{b});
  return {found.state,    std::move(found.x), found.iterations,
          found.residual, found.chosen,       found.preconditioner};
}
constexpr posse::pure<solve_one> pure_solve_one{"solve"};

} // namespace

std::vector<solver::solve_outcome<double>>
solve_remotely(const cluster::connection_options& connection,
               const solver::linear_operator<double>& a, const solver::solve_options& options,
               const remote_batch& batch) {
  std::vector<solver::solve_outcome<double>> outcomes(batch.count);
  const auto items
    = std::views::iota(std::size_t{0}, batch.count)
      | std::views::transform([&](std::size_t i) { return batch.right_hand_side(i); });
  const auto deliver = [&](std::uint64_t i, solution s) {
    auto& outcome = outcomes[static_cast<std::size_t>(i)];
    batch.solved(static_cast<std::size_t>(i), s.x);
    outcome.result.state = s.state;
    outcome.result.iterations = s.iterations;
    outcome.result.residual = s.residual;
    outcome.result.chosen = s.chosen;
    outcome.result.preconditioner = s.preconditioner;
  };
  cluster::coordinator coordinator{{.connection = connection}};
  const auto done
    = map(coordinator, pure_solve_one, linear_system{*a.matrix(), options}, items, deliver,
          {.order = cluster::result_order::by_item, .journal = batch.journal});
  if (!done.poisoned.empty())
    throw cluster::error{cluster::errc::poisoned,
                         "right-hand side " + std::to_string(done.poisoned.front().item + 1)
                           + " has no solution: " + done.poisoned.front().reason};
  return outcomes;
}

std::string serve(const cluster::connection_options& connection, std::size_t executors) {
  const cluster::termination_signals signals;
  cluster::registry functions;
  functions.add(pure_solve_one);
  return cluster::serve(functions,
                        {.connection = connection, .executors = executors, .stop = signals.token()})
    .quarantine;
}

} // namespace solve
