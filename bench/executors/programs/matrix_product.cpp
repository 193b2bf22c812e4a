// recursive matrix multiplication (Savina): a master deals parts of the product to 20 workers in
// turn. A worker returns a large part as four quarters, and computes one of 32 x 32 elements. The
// matrices are shared; messages say only which part.
//
// Size: rows and columns, a power of two.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

using part = caf::atom_constant<caf::atom("part")>;
using done = caf::atom_constant<caf::atom("done")>;

constexpr std::size_t num_workers = 20;
constexpr std::int64_t computed_at_once = 32;

struct matrices {
  std::int64_t size;
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> right;
  std::vector<std::int64_t> product; // each element written by one worker

  explicit matrices(std::int64_t rows) : size(rows), product(at(rows, 0)) {
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        left.push_back(i);
        right.push_back(j);
      }
    }
  }

  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * size + column);
  }

  // The sum of the part's elements.
  std::int64_t multiply(std::int64_t row, std::int64_t column, std::int64_t side) {
    std::int64_t sum = 0;
    for (std::int64_t i = row; i < row + side; ++i) {
      for (std::int64_t k = 0; k < size; ++k)
        for (std::int64_t j = column; j < column + side; ++j)
          product[at(i, j)] += left[at(i, k)] * right[at(k, j)];
      for (std::int64_t j = column; j < column + side; ++j)
        sum += product[at(i, j)];
    }
    return sum;
  }
};

// Tells the master about the quarters before it is done with the part, so that the master never
// has nothing open before the end.
caf::behavior worker(caf::event_based_actor* self, matrices* of) {
  return {[=](std::int64_t row, std::int64_t column, std::int64_t side) {
    const auto master = caf::actor_cast<caf::actor>(self->current_sender());
    if (side == computed_at_once) {
      self->send(master, done::value, of->multiply(row, column, side));
      return;
    }
    const auto half = side / 2;
    for (const auto down : {std::int64_t{0}, half})
      for (const auto across : {std::int64_t{0}, half})
        self->send(master, part::value, row + down, column + across, half);
    self->send(master, done::value, std::int64_t{0});
  }};
}

struct dealer {
  std::int64_t sum = 0;
  std::int64_t open = 0; // parts with a worker
  std::size_t turn = 0;
  std::vector<caf::actor> workers;
};

caf::behavior master(caf::stateful_actor<dealer>* self, matrices* of, const caf::actor& observer) {
  for (std::size_t i = 0; i < num_workers; ++i)
    self->state.workers.push_back(self->spawn(worker, of));
  auto deal = [=](std::int64_t row, std::int64_t column, std::int64_t side) {
    auto& mine = self->state;
    ++mine.open;
    self->send(mine.workers[mine.turn++ % num_workers], row, column, side);
  };
  deal(0, 0, of->size);
  return {
    [=](part, std::int64_t row, std::int64_t column, std::int64_t side) {
      deal(row, column, side);
    },
    [=](done, std::int64_t sum) {
      auto& mine = self->state;
      mine.sum += sum;
      if (--mine.open == 0) {
        self->send(observer, mine.sum);
        self->quit();
      }
    },
  };
}

} // namespace

extern constinit const program matrix_product{
  .name = "matrix_product",
  .size = 256,
  .quick_size = 128,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      matrices all{size};
      system.spawn(master, &all, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      const auto sum = size * (size - 1) / 2; // of the rows' numbers, and of the columns'
      return size * sum * sum;
    },
};

} // namespace basal::bench
