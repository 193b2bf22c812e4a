// unbalanced tree (Savina's UCT): each actor is a node that has no child, or two to five, by
// chance; it computes for 1 us, spawns its children, and tells its parent how many nodes are below.
// Nobody knows beforehand which subtree is large.
//
// Size: how many levels have children for sure; below them, a node has some with a chance of 25 %.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr int steps = 400;
constexpr std::uint64_t chance_percent = 25;

struct node {
  std::uint64_t seed;
  std::int64_t sure_levels;

  std::uint64_t children() const {
    const auto drawn = scrambled(seed);
    return sure_levels > 0 || drawn % 100 < chance_percent ? 2 + (drawn >> 32) % 4 : 0;
  }
  node child(std::uint64_t number) const {
    return {scrambled(seed + number + 1), sure_levels - 1};
  }
  // The node's part of the answer.
  std::int64_t value() const {
    return computed(static_cast<std::int64_t>(seed >> 1), steps);
  }
};

std::int64_t sum_of(const node& root) {
  auto sum = root.value();
  for (std::uint64_t i = 0; i < root.children(); ++i)
    sum += sum_of(root.child(i));
  return sum;
}

caf::behavior visit(caf::event_based_actor* self, const node& here, const caf::actor& parent) {
  const auto value = here.value();
  if (here.children() == 0) {
    self->send(parent, value);
    return {}; // without behavior it ends
  }
  for (std::uint64_t i = 0; i < here.children(); ++i)
    self->spawn(visit, here.child(i), caf::actor{self});
  return {[=, sum = value, left = here.children()](std::int64_t below) mutable {
    sum += below;
    if (--left == 0) {
      self->send(parent, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program search_tree{
  .name = "search_tree",
  .size = 5,
  .quick_size = 3,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(visit, node{1, size}, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      return sum_of({1, size});
    },
};

} // namespace basal::bench
