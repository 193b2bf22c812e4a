// How soon a computation spreads to all executors of a large machine, in simulated time.

#include "bench/posse/ramp_up.hpp"

#include "support/catch.hpp"

using namespace basal;

TEST_CASE("a large range keeps 64 executors busy within two quanta") {
  CHECK(bench::quanta_of_range(64) <= 2);
}

TEST_CASE("a tree of forks keeps 64 executors busy within two quanta") {
  CHECK(bench::quanta_of_tree(64) <= 2);
}

TEST_CASE("a simulated machine repeats itself, once forks are known") {
  bench::quanta_of_tree(8);
  CHECK(bench::quanta_of_tree(8) == bench::quanta_of_tree(8));
}
