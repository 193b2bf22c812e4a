// n queens (Savina): a master deals boards to 20 workers in turn. A worker that gets a board with
// fewer than four queens places another in every way and returns these boards to the master; with
// four it counts the solutions itself. Work of uneven length, and one actor that deals it out.
//
// Size: n.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

using place = caf::atom_constant<caf::atom("place")>;
using found = caf::atom_constant<caf::atom("found")>;
using finish = caf::atom_constant<caf::atom("finish")>;

constexpr std::size_t num_workers = 20;
constexpr int dealt_rows = 4;

// One bit a column: taken by a queen above, or by a diagonal that reaches the next row there.
struct board {
  std::int64_t rows = 0; // filled
  std::int64_t columns = 0;
  std::int64_t left = 0; // diagonals towards lower bits
  std::int64_t right = 0;

  template <class F>
  void for_each_next(std::int64_t n, F&& visit) const {
    const std::int64_t free = ~(columns | left | right) & ((std::int64_t{1} << n) - 1);
    for (std::int64_t rest = free; rest != 0; rest &= rest - 1) {
      const std::int64_t queen = rest & -rest;
      visit(board{rows + 1, columns | queen, (left | queen) >> 1, (right | queen) << 1});
    }
  }

  std::int64_t solutions(std::int64_t n) const {
    if (rows == n)
      return 1;
    std::int64_t sum = 0;
    for_each_next(n, [&](const board& next) { sum += next.solutions(n); });
    return sum;
  }
};

// The answers of a worker end with `found`, so the master has the boards of one before it counts
// that one as done.
caf::behavior worker(caf::event_based_actor* self, std::int64_t n, const caf::actor& master) {
  return {
    [=](place, std::int64_t rows, std::int64_t columns, std::int64_t left, std::int64_t right) {
      const board given{rows, columns, left, right};
      if (rows == dealt_rows) {
        self->send(master, found::value, given.solutions(n));
        return;
      }
      given.for_each_next(n, [&](const board& next) {
        self->send(master, place::value, next.rows, next.columns, next.left, next.right);
      });
      self->send(master, found::value, std::int64_t{0});
    },
    [=](finish) { self->quit(); },
  };
}

struct dealer {
  std::int64_t solutions = 0;
  std::int64_t open = 0; // boards with a worker
  std::size_t turn = 0;
  std::vector<caf::actor> workers;
};

caf::behavior master(caf::stateful_actor<dealer>* self, std::int64_t n,
                     const caf::actor& observer) {
  for (std::size_t i = 0; i < num_workers; ++i)
    self->state.workers.push_back(self->spawn(worker, n, caf::actor{self}));
  auto deal = [=](std::int64_t rows, std::int64_t columns, std::int64_t left, std::int64_t right) {
    auto& mine = self->state;
    ++mine.open;
    self->send(mine.workers[mine.turn++ % num_workers], place::value, rows, columns, left, right);
  };
  deal(0, 0, 0, 0);
  return {
    [=](place, std::int64_t rows, std::int64_t columns, std::int64_t left, std::int64_t right) {
      deal(rows, columns, left, right);
    },
    [=](found, std::int64_t solutions) {
      auto& mine = self->state;
      mine.solutions += solutions;
      if (--mine.open > 0)
        return;
      for (const auto& one : mine.workers)
        self->send(one, finish::value);
      self->send(observer, mine.solutions);
      self->quit();
    },
  };
}

} // namespace

extern constinit const program queens{
  .name = "queens",
  .size = 12,
  .quick_size = 10,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(master, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return board{}.solutions(size); },
};

} // namespace basal::bench
