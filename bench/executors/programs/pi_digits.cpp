// precise pi (Savina): a master deals places of pi to 20 workers, each of which has one at a time
// and computes the hexadecimal digit there by the formula of Bailey, Borwein and Plouffe ("On the
// rapid computation of various polylogarithmic constants", 1997). Later places take longer.
//
// Size: digits after the point. The answer is the sum of each times its place.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <cmath>

namespace basal::bench {

namespace {

constexpr std::int64_t num_workers = 20;

std::int64_t power_of_16(std::int64_t exponent, std::int64_t modulus) {
  std::int64_t result = 1 % modulus;
  for (std::int64_t base = 16 % modulus; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1)
      result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

// The fraction of 16^place times the sum over k of 1 / (16^k (8 k + offset)).
double series(std::int64_t place, std::int64_t offset) {
  double sum = 0;
  for (std::int64_t k = 0; k <= place; ++k) {
    const auto divisor = 8 * k + offset;
    sum += static_cast<double>(power_of_16(place - k, divisor)) / static_cast<double>(divisor);
    sum -= std::floor(sum);
  }
  for (std::int64_t k = place + 1; k < place + 12; ++k)
    sum += std::pow(16.0, static_cast<double>(place - k)) / static_cast<double>(8 * k + offset);
  return sum;
}

std::int64_t digit(std::int64_t place) {
  double fraction
    = 4 * series(place, 1) - 2 * series(place, 4) - series(place, 5) - series(place, 6);
  fraction -= std::floor(fraction);
  return static_cast<std::int64_t>(16 * fraction);
}

caf::behavior worker() {
  return {[](std::int64_t place) { return caf::make_message(place, digit(place)); }};
}

caf::behavior master(caf::event_based_actor* self, std::int64_t digits,
                     const caf::actor& observer) {
  // The latest places first, as they take longest.
  for (std::int64_t i = 0; i < num_workers; ++i)
    self->send(self->spawn(worker), digits - 1 - i);
  return {[=, sum = std::int64_t{0}, next = digits - 1 - num_workers,
           left = digits](std::int64_t place, std::int64_t value) mutable {
    sum += value * (place + 1);
    if (next >= 0)
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), next--);
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program pi_digits{
  .name = "pi_digits",
  .size = 600,
  .quick_size = 250,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(master, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t place = 0; place < size; ++place)
        sum += digit(place) * (place + 1);
      return sum;
    },
};

} // namespace basal::bench
