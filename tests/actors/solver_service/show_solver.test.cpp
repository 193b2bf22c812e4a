#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/stats.hpp>
#include <basal/solver/triplets.hpp>
#include <basal/solver_service/show_solver.hpp>
#include <basal/solver_service/solver_service.hpp>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace solver = basal::solver;
using namespace basal::actors;

namespace {

struct config : basal::actor_system_config {
  config() {
    set("basal.message-executors", 1);
    set("basal.compute-executors", 2);
    add_solver_messages(*this);
  }
};

/// [4 0; 1 3].
shared_matrix small_matrix() {
  return std::make_shared<const solver::csr_matrix<double>>(
    2, 2, std::vector<solver::index_type>{0, 1, 3}, std::vector<solver::index_type>{0, 0, 1},
    std::vector<double>{4, 1, 3});
}

/// Solving it takes until somebody stops it: some 10^16 walks on a path.
solver::solve_request<double> endless() {
  constexpr solver::index_type size = 20;
  solver::triplets<double> entries{size, size};
  for (solver::index_type i = 0; i < size; ++i) {
    entries.add(i, i, 1);
    if (i > 0)
      entries.add(i, i - 1, 0.4);
    if (i + 1 < size)
      entries.add(i, i + 1, -0.5);
  }
  std::vector<double> b(size);
  std::iota(b.begin(), b.end(), -5.0);
  auto matrix = std::make_shared<const solver::csr_matrix<double>>(std::move(entries).build());
  return {solver::linear_operator<double>{std::move(matrix)},
          std::move(b),
          {.method = solver::method::random_walk,
           .tolerance = 1e-8,
           .iteration_limit = solver::budget::unlimited,
           .entry = 0},
          {.ticks = solver::budget::unlimited}};
}

} // namespace

TEST_CASE("a system's statistics have what its solvers do and have done") {
  config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  CHECK(stats_of(system).solver == solving_stats{});
  auto service = spawn_solver_service(system, {.concurrent_solves = 3});
  const solve_message good{
    .a = small_matrix(), .b = std::vector{6.0, 7.0}, .options = {.method = solver::method::gmres}};
  const auto is_solved = [&](const solve_message& m) {
    bool result = false;
    self->request(service, caf::infinite, m)
      .receive([&](const solve_reply&) { result = true; }, [](caf::error&) {});
    return result;
  };
  CHECK(is_solved(good));
  CHECK(is_solved(good));
  auto short_of_steps = good;
  short_of_steps.options.iteration_limit = 0;
  CHECK(is_solved(short_of_steps));
  auto wrong = good;
  wrong.b.values.pop_back();
  CHECK_FALSE(is_solved(wrong));
  const auto check_counts = [](const solving_stats& x) {
    REQUIRE(x.methods.size() == 1);
    CHECK(x.methods[0].name == "gmres");
    CHECK(x.methods[0].ended
          == std::vector<solve_count>{
            {"converged", 2}, {"stalled", 0}, {"diverged", 0}, {"budget_exhausted", 1}});
    CHECK(x.methods[0].times.count == 3);
    CHECK(x.methods[0].times.sum_ns > 0);
    CHECK(x.methods[0].times.within.size() == time_limits);
    CHECK(x.failures
          == std::vector<solve_count>{
            {"rejected", 0}, {"timed_out", 0}, {"cancelled", 0}, {"failed", 1}});
    CHECK(x.waiting == 0);
  };
  const auto now = stats_of(system).solver;
  check_counts(now);
  CHECK(now.solvers == 1);
  CHECK(now.permits == 3);
  self->send_exit(service, caf::exit_reason::user_shutdown);
  self->wait_for(service);
  const auto after = stats_of(system).solver;
  check_counts(after);
  CHECK(after.solvers == 0);
  CHECK(after.permits == 0);
}

TEST_CASE("a solver without a service can be shown, and its requests that wait") {
  config cfg;
  std::atomic<int> done{0};
  caf::actor_system system{cfg};
  solver::batch_solver batches{runtime_of(system).compute(), {.concurrent_solves = 1}};
  const auto shown = show_solver(system, batches);
  std::stop_source stop;
  for (int i = 0; i < 5; ++i)
    batches.submit<double>(endless(), stop.get_token(), [&](const auto&) { ++done; });
  auto now = stats_of(system).solver;
  while (now.waiting > 4 || now.running == 0)
    now = stats_of(system).solver;
  CHECK(now.solvers == 1);
  CHECK(now.permits == 1);
  CHECK(now.running == 1);
  CHECK(now.waiting == 4);
  stop.request_stop();
  while (done < 5)
    std::this_thread::yield();
  now = stats_of(system).solver;
  CHECK(now.waiting == 0);
  CHECK(now.failures.at(2) == solve_count{"cancelled", 5});
}
