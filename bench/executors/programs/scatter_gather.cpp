// scatter and gather: a master asks each of 20 workers for a piece of some microseconds, waits for
// all answers, and begins again. All that waits is short, and a round ends with its last answer:
// what shows is what it costs to keep more executors awake than there are CPUs.
//
// Size: rounds.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/stateful_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

constexpr std::int64_t num_workers = 20;
constexpr int piece_steps = 1200;

caf::behavior worker() {
  return {[](std::int64_t number) { return computed(number, piece_steps); }};
}

struct master_state {
  std::vector<caf::actor> workers;
  std::int64_t missing = 0; // answers of this round
  std::int64_t sum = 0;
};

using master_actor = caf::stateful_actor<master_state>;

void begin_round(master_actor* self, std::int64_t rounds, const caf::actor& observer) {
  auto& state = self->state;
  for (const auto& worker : state.workers)
    self->request(worker, caf::infinite, rounds * num_workers - ++state.missing)
      .then([=](std::int64_t value) {
        self->state.sum += value;
        if (--self->state.missing > 0)
          return;
        if (rounds > 1) {
          begin_round(self, rounds - 1, observer);
          return;
        }
        self->send(observer, self->state.sum);
        self->quit(caf::exit_reason::user_shutdown); // and with it the workers
      });
}

void master(master_actor* self, std::int64_t rounds, const caf::actor& observer) {
  for (std::int64_t i = 0; i < num_workers; ++i)
    self->state.workers.push_back(self->spawn<caf::linked>(worker));
  begin_round(self, rounds, observer);
}

} // namespace

extern constinit const program scatter_gather{
  .name = "scatter_gather",
  .size = 150,
  .quick_size = 40,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(master, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 0; number < size * num_workers; ++number)
        sum += computed(number, piece_steps);
      return sum;
    },
};

} // namespace basal::bench
