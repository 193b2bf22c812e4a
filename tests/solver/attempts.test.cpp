#include "attempts.hpp"

#include "support/catch.hpp"

namespace basal::solver {

namespace {

solve_result<double> attempt(state ended, double x, double residual, method by) {
  solve_result<double> result;
  result.state = ended;
  result.x = {x};
  result.residual = residual;
  result.half_width = 10 * residual;
  result.chosen = by;
  return result;
}

} // namespace

TEST_CASE(
  "of attempts that failed the one with the least residual is the answer, whenever it came") {
  for (const bool better_first : {true, false}) {
    const auto better = attempt(state::stalled, 1, 1e-3, method::gmres);
    const auto worse = attempt(state::diverged, 2, 0.5, method::bicgstab);
    solve_result<double> result;
    detail::take_better(result, better_first ? solve_result{better} : solve_result{worse});
    auto last = better_first ? worse : better;
    last.iterations = 30;
    last.why = "all of it";
    const auto ended = last.state;
    detail::take_better(result, std::move(last));
    CAPTURE(better_first);
    CHECK(result.x == better.x);
    CHECK(result.residual == better.residual);
    CHECK(result.half_width == better.half_width);
    CHECK(result.chosen == better.chosen);
    // Of the whole.
    CHECK(result.state == ended);
    CHECK(result.iterations == 30);
    CHECK(result.why == "all of it");
  }
}

TEST_CASE("an attempt that converged is the answer, whatever came before") {
  auto result = attempt(state::stalled, 1, 1e-9, method::gmres);
  detail::take_better(result, attempt(state::converged, 2, 1e-8, method::bicgstab));
  CHECK(result.x == std::vector<double>{2});
  CHECK(result.state == state::converged);
  CHECK(result.chosen == method::bicgstab);
}

TEST_CASE("the first attempt is better than none") {
  solve_result<double> result;
  detail::take_better(result, attempt(state::stalled, 1, 7, method::gmres));
  CHECK(result.x == std::vector<double>{1});
  CHECK(result.residual == 7);
}

} // namespace basal::solver
