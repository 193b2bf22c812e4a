// guided search (Savina's A*): 20 workers look for the farthest corner of a cube of points. A
// worker that gets a point goes on from there, always to the known point nearest to the corner, and
// after 64 points gives those that it knows and has not visited back to the master, who deals them
// out. Every point is visited once in the end, whoever comes first.
//
// Size: points along an edge of the cube.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <queue>
#include <vector>

namespace basal::bench {

namespace {

using visit = caf::atom_constant<caf::atom("visit")>;
using visited = caf::atom_constant<caf::atom("visited")>;

constexpr std::size_t num_workers = 20;
constexpr int points_at_once = 64;

class cube {
public:
  explicit cube(std::int64_t edge) : edge_(edge), claimed_(static_cast<std::size_t>(size())) {
    claim(0);
  }

  std::int64_t size() const {
    return edge_ * edge_ * edge_;
  }

  // Steps along edges that are left, for the point (x, y, z) = x + edge * (y + edge * z).
  std::int64_t distance(std::int64_t point) const {
    return 3 * (edge_ - 1) - point % edge_ - point / edge_ % edge_ - point / (edge_ * edge_);
  }

  // Of the points one step nearer, those that nobody has claimed before are the caller's.
  template <class F>
  void claim_from(std::int64_t point, F&& take) {
    std::int64_t along = 1;
    for (int axis = 0; axis < 3; ++axis, along *= edge_)
      if (point / along % edge_ < edge_ - 1 && claim(point + along))
        take(point + along);
  }

private:
  bool claim(std::int64_t point) {
    // The caller that sees false goes to the point; nothing else is published by it.
    return !claimed_[static_cast<std::size_t>(point)].exchange(true, std::memory_order_relaxed);
  }

  std::int64_t edge_;
  std::vector<std::atomic<bool>> claimed_;
};

// A worker tells the master about points that are left before it tells that it is done, so that the
// master never has nothing open before the end.
caf::behavior worker(caf::event_based_actor* self, cube* space) {
  return {[=](std::int64_t start) {
    const auto master = caf::actor_cast<caf::actor>(self->current_sender());
    const auto farther
      = [=](std::int64_t a, std::int64_t b) { return space->distance(a) > space->distance(b); };
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, decltype(farther)> known{farther};
    known.push(start);
    std::int64_t count = 0;
    while (!known.empty() && count < points_at_once) {
      const auto nearest = known.top();
      known.pop();
      ++count;
      space->claim_from(nearest, [&](std::int64_t point) { known.push(point); });
    }
    for (; !known.empty(); known.pop())
      self->send(master, visit::value, known.top());
    self->send(master, visited::value, count);
  }};
}

struct dealer {
  std::int64_t sum = 0;
  std::int64_t open = 0; // points with a worker
  std::size_t turn = 0;
  std::vector<caf::actor> workers;
};

caf::behavior master(caf::stateful_actor<dealer>* self, cube* space, const caf::actor& observer) {
  for (std::size_t i = 0; i < num_workers; ++i)
    self->state.workers.push_back(self->spawn(worker, space));
  auto deal = [=](std::int64_t point) {
    auto& mine = self->state;
    ++mine.open;
    self->send(mine.workers[mine.turn++ % num_workers], point);
  };
  deal(0);
  return {
    [=](visit, std::int64_t point) { deal(point); },
    [=](visited, std::int64_t count) {
      auto& mine = self->state;
      mine.sum += count;
      if (--mine.open == 0) {
        self->send(observer, mine.sum);
        self->quit();
      }
    },
  };
}

} // namespace

extern constinit const program guided_search{
  .name = "guided_search",
  .size = 40,
  .quick_size = 24,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      cube space{size};
      system.spawn(master, &space, watching.handle());
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return size * size * size; },
};

} // namespace basal::bench
