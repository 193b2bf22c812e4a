#include <basal/solver/batch.hpp>
#include <basal/solver/block_stepper.hpp>
#include <basal/solver/matrix_market.hpp>
#include <basal/solver/stepper.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/program.hpp"

#include "cli.hpp"
#include "output_file.hpp"
#include "plot.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "solutions.hpp"
#include "solving_pool.hpp"
#ifdef SOLVE_WITH_CLUSTER
#  include "remote.hpp"
#endif

namespace {

namespace solver = basal::solver;
using namespace solve;
using matrix = std::shared_ptr<const solver::csr_matrix<double>>;
using steady = std::chrono::steady_clock;

/// The name of a file to read. A folder opens like a file and fails at the first read, which does
/// not name it.
const std::string& no_folder(const std::string& file) {
  if (std::filesystem::is_directory(file))
    throw std::runtime_error{file + ": is a folder; name a Matrix Market file"};
  return file;
}

matrix read_matrix(const std::string& file) {
  progress line{"reading " + file, "entries"};
  auto show = [&](std::int64_t read, std::int64_t promised) {
    line.show(static_cast<std::uint64_t>(read), static_cast<std::uint64_t>(promised));
  };
  return std::make_shared<const solver::csr_matrix<double>>(
    solver::read_matrix_market<double>(no_folder(file), {.progress = show}));
}

/// b = A x of a random x, which depends on the number of the right-hand side alone.
std::vector<double> made_up(const solver::linear_operator<double>& a, std::size_t number) {
  std::mt19937_64 random{number};
  std::uniform_real_distribution<double> entry{-1, 1};
  std::vector<double> x(static_cast<std::size_t>(a.size()));
  std::generate(x.begin(), x.end(), [&] { return entry(random); });
  std::vector<double> b(x.size());
  a.multiply(x, b, solver::summation::native);
  return b;
}

/// The residual after each iteration of one solve.
std::vector<double> history(const solver::solve_plan<double>& plan, const std::vector<double>& b) {
  std::vector<double> x(plan.solution_size());
  // Of doubles in lines of 64 bytes, so that it is aligned as steppers want it.
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> scratch(plan.scratch_bytes() / sizeof(line) + 1);
  solver::stepper<double> steps{plan, b, x, std::as_writable_bytes(std::span{scratch})};
  std::vector<double> residuals{steps.report().residual};
  while (steps.report().state == solver::state::running
         && steps.steps() < plan.options().iteration_limit)
    residuals.push_back(steps.step().residual);
  return residuals;
}

void write_plot(const options& o, const solver::solve_plan<double>& plan,
                const std::vector<double>& b, output_file& file) {
  auto title = o.matrix_file + ", " + std::string{to_string(plan.chosen())} + ", "
               + std::to_string(plan.matrix().size()) + " unknowns";
  file.write(residual_plot(history(plan, b), o.solver.tolerance, title));
  file.commit();
}

/// The right-hand sides, and the listeners to their solutions, which come in the order of their
/// numbers.
struct request_for_all {
  std::size_t count;
  std::function<std::vector<double>(std::size_t)> right_hand_side;
  std::function<void(const std::vector<double>&)> solved;
  std::function<void(std::size_t)> progress;
};

using outcomes_of_all = std::vector<solver::solve_outcome<double>>;

outcomes_of_all solve_here(const options& o, solving_pool& pool,
                           const solver::solve_plan<double>& plan, const request_for_all& all,
                           std::chrono::nanoseconds& elapsed) {
  // As much scratch memory as the permits can ask for, blocks of right-hand sides included: here
  // the user, and nobody else, decides what fits into memory.
  const auto permits = 2 * o.executors;
  const auto block = (plan.scratch_bytes() + 2 * sizeof(double) * plan.solution_size())
                     * solver::block_stepper<double>::max_width;
  solver::batch_solver batches{
    pool.executors(),
    {.concurrent_solves = permits, .scratch_bytes = permits * (4 * block + (1 << 20))}};
  const auto shown = pool.show(batches);
  outcomes_of_all outcomes;
  while (outcomes.size() < all.count) {
    const auto begun = outcomes.size();
    const auto size = std::min(o.batch, all.count - begun);
    std::vector<solver::solve_request<double>> requests;
    for (std::size_t i = 0; i < size; ++i)
      requests.emplace_back(plan, all.right_hand_side(begun + i),
                            solver::budget{.ticks = solver::budget::unlimited});
    const auto start = steady::now();
    auto part = batches.solve_batch(
      std::move(requests),
      {.on_progress = [&](solver::batch_progress p) { all.progress(begun + p.done); }});
    elapsed += steady::now() - start;
    for (auto& outcome : part) {
      if (!outcome.failure)
        all.solved(outcome.result.x);
      outcome.result.x = {}; // so that memory does not grow with the right-hand sides
      outcomes.push_back(std::move(outcome));
    }
  }
  return outcomes;
}

#ifdef SOLVE_WITH_CLUSTER
basal::cluster::connection_options address_of(const options& o) {
  return {.address = o.cluster,
          .ca_file = o.ca_file,
          .certificate_file = o.certificate_file,
          .key_file = o.key_file,
          .replicas = o.replicas};
}

outcomes_of_all solve_there(const options& o, const solver::linear_operator<double>& a,
                            const request_for_all& all, std::chrono::nanoseconds& elapsed) {
  const auto start = steady::now();
  auto outcomes = solve_remotely(address_of(o), a, o.solver,
                                 {.count = all.count,
                                  .right_hand_side = all.right_hand_side,
                                  .journal = o.journal,
                                  .solved = [&](std::size_t i, const std::vector<double>& x) {
                                    all.solved(x);
                                    all.progress(i + 1);
                                  }});
  elapsed = steady::now() - start;
  return outcomes;
}

int serve(const options& o) {
  const auto refused = solve::serve(address_of(o), o.executors);
  if (!refused.empty())
    samples::complain("solve", refused);
  return refused.empty() ? exit_converged : exit_not_converged;
}
#else
// Without basal::cluster the command line has no address.
outcomes_of_all solve_there(const options&, const solver::linear_operator<double>&,
                            const request_for_all&, std::chrono::nanoseconds&) {
  return {};
}

int serve(const options&) {
  return exit_usage;
}
#endif

int run(const options& o) {
  // First of all: nobody wants to wait for a solution that cannot be written.
  std::optional<output_file> plot;
  if (!o.plot_file.empty())
    plot.emplace("the plot", o.plot_file);
  std::optional<solutions> output;
  if (!o.output_file.empty())
    output.emplace(o.output_file);

  std::optional<solving_pool> pool; // from now on an observer shows it
  if (o.cluster.empty())
    pool.emplace(o.executors, o.observe);
  const solver::linear_operator<double> a{read_matrix(o.matrix_file)};
  std::vector<double> given;
  if (!o.rhs_file.empty())
    given = solver::read_matrix_market_vector<double>(no_folder(o.rhs_file));
  const auto count = o.rhs_file.empty() ? o.rhs : 1;
  auto right_hand_side
    = [&](std::size_t number) { return o.rhs_file.empty() ? made_up(a, number) : given; };

  const solver::solve_plan<double> plan{a, o.solver};
  std::printf("%s: %d unknowns, %d entries\n%s\n\n", o.matrix_file.c_str(), a.size(),
              a.matrix()->nonzeros(), plan.why().c_str());

  if (output)
    output->begin(plan.solution_size(), count, o.matrix_file);
  std::optional<progress> line{std::in_place, "solving", "right-hand sides"};
  line->show(0, count);
  const request_for_all all{.count = count,
                            .right_hand_side = right_hand_side,
                            .solved =
                              [&](const std::vector<double>& x) {
                                if (output)
                                  output->add(x);
                              },
                            .progress = [&](std::size_t done) { line->show(done, count); }};
  std::chrono::nanoseconds elapsed{0};
  const auto outcomes
    = pool ? solve_here(o, *pool, plan, all, elapsed) : solve_there(o, a, all, elapsed);
  line.reset();
  std::fputs(table(outcomes, elapsed).c_str(), stdout);
  for (const auto& outcome : outcomes)
    if (outcome.failure) {
      samples::complain("solve", outcome.failure->what());
      return exit_usage;
    }
  if (output)
    output->commit();
  if (plot)
    write_plot(o, plan, right_hand_side(0), *plot);
  return std::all_of(
           outcomes.begin(), outcomes.end(),
           [](const auto& outcome) { return outcome.result.state == solver::state::converged; })
           ? exit_converged
           : exit_not_converged;
}

} // namespace

int main(int argc, char** argv) {
  return samples::run_program("solve", exit_usage, [&] {
    const auto line = parse_command_line(argc, argv);
    if (line.exits)
      return line.status;
    return line.value.serves ? serve(line.value) : run(line.value);
  });
}
