#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/stats.hpp>

#include <caf/actor_system.hpp>

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support/catch.hpp"

using namespace basal::actors;

namespace {

struct config : basal::actor_system_config {
  config() {
    set("basal.message-executors", 1);
    set("basal.compute-executors", 1);
  }
};

/// As of a solver with one method: `fast` solves within a microsecond, `slow` ones within four.
solving_stats numbers(const char* method, std::uint64_t fast, std::uint64_t slow) {
  time_stats times{.count = fast + slow, .sum_ns = 500 * fast + 3'000 * slow, .within = {}};
  times.within.assign(time_limits, fast + slow);
  times.within[0] = fast;
  return {.solvers = 1,
          .permits = 4,
          .running = 2,
          .waiting = 3,
          .methods = {{method, {{"converged", fast}, {"stalled", slow}}, times}},
          .failures = {{"rejected", 1}}};
}

} // namespace

TEST_CASE("solvers are added up by method, state and reason") {
  auto sum = numbers("gmres", 10, 0);
  sum += numbers("gmres", 0, 30);
  sum += numbers("direct", 5, 0);
  CHECK(sum.solvers == 3);
  CHECK(sum.permits == 12);
  CHECK(sum.running == 6);
  CHECK(sum.waiting == 9);
  REQUIRE(sum.methods.size() == 2);
  CHECK(sum.methods[0].name == "gmres");
  CHECK(sum.methods[0].ended == std::vector<solve_count>{{"converged", 10}, {"stalled", 30}});
  CHECK(sum.methods[0].times.count == 40);
  CHECK(sum.methods[0].times.sum_ns == 95'000);
  CHECK(sum.methods[0].times.within[0] == 10);
  CHECK(sum.methods[0].times.within[1] == 40);
  CHECK(sum.methods[1].name == "direct");
  CHECK(sum.failures == std::vector<solve_count>{{"rejected", 3}});
}

TEST_CASE("quantiles of solves are those of all solvers together") {
  auto sum = numbers("gmres", 10, 0);
  sum += numbers("gmres", 0, 30);
  // 20 of 40: ten of the 30 that are spread from 1 to 4 us.
  CHECK(sum.methods[0].times.p50_ns == 2'000);
  CHECK(sum.methods[0].times.p99_ns == 3'960);
  auto late = numbers("gmres", 0, 0);
  late.methods[0].times.count = 2; // behind the last limit
  solving_stats one;
  one += late;
  CHECK(one.methods[0].times.p50_ns == 16'777'216'000);
  CHECK((solving_stats{} += numbers("gmres", 0, 0)).methods[0].times.p99_ns == 0);
}

TEST_CASE("a solver is in the statistics while its source lives, and its counts are afterwards") {
  config cfg;
  caf::actor_system system{cfg};
  CHECK(stats_of(system).solver == solving_stats{});
  std::uint64_t solves = 5;
  std::optional<solver_source> source{std::in_place, system,
                                      [&] { return numbers("gmres", solves, 0); }};
  CHECK(stats_of(system).solver == (solving_stats{} += numbers("gmres", 5, 0)));
  solver_source other{system, [] { return numbers("gmres", 100, 0); }};
  CHECK(stats_of(system).solver.solvers == 2);
  CHECK(stats_of(system).solver.methods.at(0).times.count == 105);
  solves = 7; // after the last look
  source.reset();
  solves = 1000; // nobody reads it any more
  const auto after = stats_of(system).solver;
  CHECK(after.solvers == 1);
  CHECK(after.permits == 4);
  CHECK(after.running == 2);
  CHECK(after.waiting == 3);
  CHECK(after.methods.at(0).times.count == 107);
  CHECK(after.failures.at(0).solves == 2);
}

TEST_CASE("a source that is moved shows its solver once") {
  config cfg;
  caf::actor_system system{cfg};
  solver_source first{system, [] { return numbers("gmres", 5, 0); }};
  solver_source second{std::move(first)};
  CHECK(stats_of(system).solver.solvers == 1);
  solver_source third;
  third = std::move(second);
  CHECK(stats_of(system).solver.solvers == 1);
  third = {};
  CHECK(stats_of(system).solver.solvers == 0);
  CHECK(stats_of(system).solver.methods.at(0).times.count == 5);
}

TEST_CASE("a source may outlive its system, and its solver may be out of memory") {
  solver_source source;
  {
    config cfg;
    caf::actor_system system{cfg};
    source = {system, []() -> solving_stats { throw std::bad_alloc{}; }};
    CHECK_THROWS_AS(stats_of(system), std::bad_alloc);
  }
}

TEST_CASE("a system on stock CAF shows no solvers") {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  CHECK_THROWS_AS((solver_source{system, [] { return solving_stats{}; }}), std::logic_error);
}
