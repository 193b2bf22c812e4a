// ping-pong: two actors, one message on its way between them at any time. Shows the latency of
// handing an actor to a worker that is awake.
// pairs: eight of them at once. A worker always has other actors to run.
//
// Size: messages of each pair. Every message carries its number.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr std::int64_t num_pairs = 8;

caf::behavior pong() {
  return {[](std::int64_t number) { return number + 1; }};
}

caf::behavior ping(caf::event_based_actor* self, const caf::actor& partner, std::int64_t last,
                   const caf::actor& observer) {
  self->send(partner, std::int64_t{1});
  return {[=](std::int64_t number) {
    if (number < last) {
      self->send(partner, number + 1);
      return;
    }
    self->send(observer, number);
    self->quit(); // nobody knows the partner any more: it ends, too
  }};
}

std::int64_t run(caf::actor_system& system, std::int64_t count, std::int64_t messages) {
  observer watching{system};
  for (std::int64_t i = 0; i < count; ++i)
    system.spawn(ping, system.spawn(pong), messages, watching.handle());
  return watching.sum_of_answers(count);
}

} // namespace

extern constinit const program ping_pong{
  .name = "ping_pong",
  .size = 40'000,
  .quick_size = 8'000,
  .run = [](caf::actor_system& system, std::int64_t size) { return run(system, 1, size); },
  .expected = [](std::int64_t size) { return size; },
};

extern constinit const program pairs{
  .name = "pairs_8",
  .size = 5'000,
  .quick_size = 1'000,
  .run = [](caf::actor_system& system, std::int64_t size) { return run(system, num_pairs, size); },
  .expected = [](std::int64_t size) { return num_pairs * size; },
};

} // namespace basal::bench
