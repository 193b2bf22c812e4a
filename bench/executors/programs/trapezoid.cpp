// trapezoidal approximation (Savina): a master has 100 workers integrate pieces of a function and
// adds up what they answer. Computation and few messages: what shows is how soon all workers of the
// scheduler have something to do.
//
// Size: pieces of each worker, of 100 trapezoids each.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <cmath>

namespace basal::bench {

namespace {

constexpr std::int64_t num_workers = 100;
constexpr std::int64_t trapezoids = 100; // of each piece

double height(double x) {
  return std::sqrt(1 + x * x * x) / (1 + x);
}

// Of the numbers from 0 to 5, in `pieces`; in billionths, since sums of those are exact.
std::int64_t area_of_piece(std::int64_t piece, std::int64_t pieces) {
  const double width = 5.0 / static_cast<double>(pieces * trapezoids);
  double sum = 0;
  for (std::int64_t i = piece * trapezoids; i < (piece + 1) * trapezoids; ++i) {
    const double left = static_cast<double>(i) * width;
    sum += (height(left) + height(left + width)) / 2 * width;
  }
  return std::llround(sum * 1e9);
}

std::int64_t area_of_worker(std::int64_t worker, std::int64_t pieces_each) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < pieces_each; ++i)
    sum += area_of_piece(worker * pieces_each + i, num_workers * pieces_each);
  return sum;
}

caf::behavior worker() {
  return {[](std::int64_t number, std::int64_t pieces_each) {
    return area_of_worker(number, pieces_each);
  }};
}

caf::behavior master(caf::event_based_actor* self, std::int64_t pieces_each,
                     const caf::actor& observer) {
  for (std::int64_t number = 0; number < num_workers; ++number)
    self->send(self->spawn(worker), number, pieces_each);
  return {[=, sum = std::int64_t{0}, left = num_workers](std::int64_t area) mutable {
    sum += area;
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program trapezoid{
  .name = "trapezoid",
  .size = 300,
  .quick_size = 80,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(master, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 0; number < num_workers; ++number)
        sum += area_of_worker(number, size);
      return sum;
    },
};

} // namespace basal::bench
