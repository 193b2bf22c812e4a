// fork-join throughput (Savina): a plain thread deals messages to 60 actors in turn, each of which
// computes a little for every one. All work comes from outside the scheduler.
//
// Size: messages per actor. Each counts those whose computation came out right.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <cmath>
#include <vector>

namespace basal::bench {

namespace {

constexpr std::int64_t num_actors = 60;

caf::behavior computer(caf::event_based_actor* self, std::int64_t messages,
                       const caf::actor& observer) {
  return {[=, left = messages, right = std::int64_t{0}](double angle) mutable {
    const double sine = std::sin(angle);
    const double cosine = std::cos(angle);
    right += std::abs(sine * sine + cosine * cosine - 1) < 1e-9 ? 1 : 0;
    if (--left == 0) {
      self->send(observer, right);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program fork_join{
  .name = "fork_join_60",
  .size = 1'000,
  .quick_size = 200,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      std::vector<caf::actor> computers;
      for (std::int64_t i = 0; i < num_actors; ++i)
        computers.push_back(system.spawn(computer, size, watching.handle()));
      for (std::int64_t message = 0; message < size; ++message) {
        for (const auto& one : computers)
          caf::anon_send(one, 0.1 * static_cast<double>(message));
      }
      computers.clear();
      return watching.sum_of_answers(num_actors);
    },
  .expected = [](std::int64_t size) { return num_actors * size; },
};

} // namespace basal::bench
