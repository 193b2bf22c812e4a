// logistic map (Savina): ten series of x' = r x (1 - x), each with its own rate. An actor holds the
// series and asks another one, by request and response, for each next term.
//
// Size: terms of each series. The answer is the sum of the last terms in millionths.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <cmath>

namespace basal::bench {

namespace {

constexpr std::int64_t num_series = 10;
constexpr double first_term = 0.4;

double rate_of(std::int64_t series) {
  return 3.5 + 0.01 * static_cast<double>(series);
}

double next_term(double rate, double term) {
  return rate * term * (1 - term);
}

std::int64_t millionths(double term) {
  return std::llround(term * 1e6);
}

caf::behavior rate_keeper(caf::event_based_actor*, double rate) {
  return {[=](double term) { return next_term(rate, term); }};
}

void series(caf::event_based_actor* self, const caf::actor& keeper, double term, std::int64_t left,
            const caf::actor& observer) {
  if (left == 0) {
    self->send(observer, millionths(term));
    return;
  }
  self->request(keeper, caf::infinite, term).then([=](double next) {
    series(self, keeper, next, left - 1, observer);
  });
}

} // namespace

extern constinit const program logistic_map{
  .name = "logistic_map",
  .size = 1'500,
  .quick_size = 400,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      for (std::int64_t number = 0; number < num_series; ++number)
        system.spawn([=, observer = watching.handle()](caf::event_based_actor* self) {
          series(self, self->spawn(rate_keeper, rate_of(number)), first_term, size, observer);
        });
      return watching.sum_of_answers(num_series);
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 0; number < num_series; ++number) {
        double term = first_term;
        for (std::int64_t i = 0; i < size; ++i)
          term = next_term(rate_of(number), term);
        sum += millionths(term);
      }
      return sum;
    },
};

} // namespace basal::bench
