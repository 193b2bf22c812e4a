// producers and consumers with a bounded buffer (Savina): 20 producers and 20 consumers, and one
// actor that keeps at most 50 items between them. It orders an item from a producer when there is
// room, and gives items to consumers that are free. Making and using one takes 1 us each.
//
// Size: items. The answer is the sum of what consumers made of them.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>
#include <vector>

namespace basal::bench {

namespace {

using made = caf::atom_constant<caf::atom("made")>;
using used = caf::atom_constant<caf::atom("used")>;

constexpr std::size_t num_producers = 20;
constexpr std::size_t num_consumers = 20;
constexpr std::size_t capacity = 50;
constexpr int steps = 400;

caf::behavior producer() {
  return {
    [](std::int64_t order) { return caf::make_message(made::value, computed(order, steps)); }};
}

caf::behavior consumer() {
  return {[](std::int64_t item) { return caf::make_message(used::value, computed(item, steps)); }};
}

struct buffer_state {
  std::deque<std::int64_t> items;
  std::size_t ordered = 0; // of producers, and not made yet
  std::vector<caf::actor> free_producers;
  std::vector<caf::actor> free_consumers;
  std::int64_t left_to_order = 0;
  std::int64_t left_to_use = 0;
  std::int64_t sum = 0;
};

using buffer_actor = caf::stateful_actor<buffer_state>;

void trade(buffer_actor* self) {
  auto& mine = self->state;
  while (!mine.items.empty() && !mine.free_consumers.empty()) {
    self->send(mine.free_consumers.back(), mine.items.front());
    mine.free_consumers.pop_back();
    mine.items.pop_front();
  }
  while (mine.left_to_order > 0 && !mine.free_producers.empty()
         && mine.items.size() + mine.ordered < capacity) {
    self->send(mine.free_producers.back(), mine.left_to_order);
    mine.free_producers.pop_back();
    ++mine.ordered;
    --mine.left_to_order;
  }
}

caf::behavior buffer(buffer_actor* self, std::int64_t items, const caf::actor& observer) {
  for (std::size_t i = 0; i < num_producers; ++i)
    self->state.free_producers.push_back(self->spawn(producer));
  for (std::size_t i = 0; i < num_consumers; ++i)
    self->state.free_consumers.push_back(self->spawn(consumer));
  self->state.left_to_order = items;
  self->state.left_to_use = items;
  trade(self);
  return {
    [=](made, std::int64_t item) {
      auto& mine = self->state;
      mine.free_producers.push_back(caf::actor_cast<caf::actor>(self->current_sender()));
      mine.items.push_back(item);
      --mine.ordered;
      trade(self);
    },
    [=](used, std::int64_t value) {
      auto& mine = self->state;
      mine.free_consumers.push_back(caf::actor_cast<caf::actor>(self->current_sender()));
      mine.sum += value;
      if (--mine.left_to_use > 0) {
        trade(self);
        return;
      }
      self->send(observer, mine.sum);
      self->quit();
    },
  };
}

} // namespace

extern constinit const program bounded_buffer{
  .name = "bounded_buffer",
  .size = 8'000,
  .quick_size = 2'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(buffer, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t order = 1; order <= size; ++order)
        sum += computed(computed(order, steps), steps);
      return sum;
    },
};

} // namespace basal::bench
