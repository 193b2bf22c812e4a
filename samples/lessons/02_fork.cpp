// A pure function that forks. When an executor is idle it takes the oldest branch that is worth it;
// otherwise the function runs as if it did not fork, and gives the same result.
#include <basal/actors/actors.hpp>
#include <basal/posse/posse.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <iostream>

using basal::posse::member;

/// Ways to put queens into the rows from `row` on of a board of n columns. Each bit of `columns`
/// and of the two diagonals is a square of this row that a queen attacks.
long queens(member& m, int n, int row, unsigned columns, unsigned left, unsigned right) {
  if (row == n)
    return 1;
  long ways = 0;
  for (unsigned open = ~(columns | left | right) & ((1u << n) - 1); open != 0; open &= open - 1) {
    const unsigned bit = open & -open;
    auto place = [=](member& k) {
      return queens(k, n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    };
    const unsigned last = open & (open - 1);
    if (last == 0)
      return ways + place(m);
    const unsigned next = last & -last;
    auto [a, b] = m.fork_merge(place, [=](member& k) {
      return queens(k, n, row + 1, columns | next, (left | next) << 1, (right | next) >> 1);
    });
    ways += a + b;
    open = last; // both are done
  }
  return ways;
}
inline constexpr basal::posse::pure<queens> pure_queens{"queens"};

caf::behavior board(caf::event_based_actor* self) {
  return {[=](int n) { return pure_queens(self, n, 0, 0u, 0u, 0u); }};
}

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  self->request(system.spawn(board), caf::infinite, 10)
    .receive([](long ways) { std::cout << ways << " ways to place 10 queens\n"; },
             [&](const caf::error& e) { std::cerr << system.render(e) << '\n'; });
}
