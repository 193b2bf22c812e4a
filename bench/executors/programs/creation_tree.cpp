// actor creation (CAF's suite): a binary tree of actors, each of which spawns two and adds up their
// answers. Shows the price of an actor, and how many of them a scheduler keeps alive: depth first a
// few, breadth first all.
//
// Size: levels of the tree, which has 2^size - 1 actors.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

caf::behavior node(caf::event_based_actor* self, std::int64_t levels, const caf::actor& parent) {
  if (levels == 1) {
    self->send(parent, std::int64_t{1});
    return {}; // without behavior it ends
  }
  const caf::actor me{self};
  self->spawn(node, levels - 1, me);
  self->spawn(node, levels - 1, me);
  return {[=, sum = std::int64_t{1}, answers = 0](std::int64_t subtree) mutable {
    sum += subtree;
    if (++answers == 2) {
      self->send(parent, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program creation_tree{
  .name = "creation_tree",
  .size = 13,
  .quick_size = 11,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(node, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return (std::int64_t{1} << size) - 1; },
  .memory_size = 16,
};

} // namespace basal::bench
