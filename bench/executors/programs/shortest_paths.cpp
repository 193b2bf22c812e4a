// all-pairs shortest paths (Savina): Floyd's algorithm on blocks of 24 x 24 vertices, each an
// actor. In every phase the block on the diagonal goes first and sends its distances along its row
// and its column; the blocks there send theirs to those who need them. Long messages that many
// share, and actors that wait for two others.
//
// Size: blocks along a side.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace basal::bench {

namespace {

using distances = std::vector<std::int64_t>;
using blocks = std::vector<caf::actor>; // row by row
using from_row = caf::atom_constant<caf::atom("row")>;
using from_column = caf::atom_constant<caf::atom("column")>;

constexpr std::int64_t side = 24;

// The lengths of edges between the vertices of two blocks.
distances edges(std::int64_t row, std::int64_t column) {
  distances made;
  for (std::int64_t from = row * side; from < (row + 1) * side; ++from)
    for (std::int64_t to = column * side; to < (column + 1) * side; ++to)
      made.push_back(from == to ? 0 : 1 + computed(from * 10'000 + to, 1));
  return made;
}

// Shortens the ways in `block` by those that go by `first` and then by `second`. Either may be the
// block itself.
void relax(distances& block, const distances& first, const distances& second) {
  const auto at
    = [](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * side + j); };
  for (std::int64_t k = 0; k < side; ++k)
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        block[at(i, j)] = std::min(block[at(i, j)], first[at(i, k)] + second[at(k, j)]);
}

struct block_state {
  distances mine;
  blocks all;
  std::int64_t phase = 0;
  // Of this phase and, where others are ahead, of later ones.
  std::map<std::int64_t, distances> row;    // of the block in this row and the phase's column
  std::map<std::int64_t, distances> column; // of the block in this column and the phase's row
};

class block_of {
public:
  block_of(caf::stateful_actor<block_state>* self, std::int64_t row, std::int64_t column,
           std::int64_t count)
    : self_(self), row_(row), column_(column), count_(count) {
  }

  // Goes as far as it can with what has come.
  void advance(const caf::actor& judge) const {
    auto& state = self_->state;
    while (!state.all.empty() && state.phase < count_ && step())
      ++state.phase;
    if (state.phase < count_)
      return;
    std::int64_t sum = 0;
    for (const auto way : state.mine)
      sum += way;
    self_->send(judge, sum);
    self_->quit();
  }

private:
  bool step() const {
    auto& [mine, all, phase, rows, columns] = self_->state;
    const bool in_row = row_ == phase;
    const bool in_column = column_ == phase;
    const auto first = rows.find(phase);
    const auto second = columns.find(phase);
    if ((!in_column && first == rows.end()) || (!in_row && second == columns.end()))
      return false;
    relax(mine, in_column ? mine : first->second, in_row ? mine : second->second);
    // The phase's column goes along the rows, its row along the columns.
    const auto message_to_row = caf::make_message(from_row::value, phase, mine);
    const auto message_to_column = caf::make_message(from_column::value, phase, mine);
    for (std::int64_t i = 0; i < count_; ++i) {
      if (in_column && i != column_)
        self_->send(at(row_, i), message_to_row);
      if (in_row && i != row_)
        self_->send(at(i, column_), message_to_column);
    }
    rows.erase(phase);
    columns.erase(phase);
    return true;
  }

  const caf::actor& at(std::int64_t row, std::int64_t column) const {
    return self_->state.all[static_cast<std::size_t>(row * count_ + column)];
  }

  caf::stateful_actor<block_state>* self_;
  std::int64_t row_;
  std::int64_t column_;
  std::int64_t count_;
};

caf::behavior block(caf::stateful_actor<block_state>* self, std::int64_t row, std::int64_t column,
                    std::int64_t count, const caf::actor& judge) {
  self->state.mine = edges(row, column);
  const block_of here{self, row, column, count};
  return {
    [=](const blocks& all) {
      self->state.all = all;
      here.advance(judge);
    },
    [=](from_row, std::int64_t phase, const distances& block) {
      self->state.row[phase] = block;
      here.advance(judge);
    },
    [=](from_column, std::int64_t phase, const distances& block) {
      self->state.column[phase] = block;
      here.advance(judge);
    },
  };
}

} // namespace

extern constinit const program shortest_paths{
  .name = "shortest_paths",
  .size = 10,
  .quick_size = 6,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      blocks made;
      for (std::int64_t row = 0; row < size; ++row)
        for (std::int64_t column = 0; column < size; ++column)
          made.push_back(system.spawn(block, row, column, size, watching.handle()));
      const auto all = caf::make_message(std::move(made)); // shared by all who get it
      for (const auto& one : all.get_as<blocks>(0))
        caf::anon_send(one, all);
      return watching.sum_of_answers(size * size);
    },
  .expected =
    [](std::int64_t size) {
      const auto vertices = static_cast<std::size_t>(size * side);
      distances all;
      for (std::int64_t from = 0; from < size * side; ++from)
        for (std::int64_t to = 0; to < size * side; ++to)
          all.push_back(from == to ? 0 : 1 + computed(from * 10'000 + to, 1));
      for (std::size_t k = 0; k < vertices; ++k)
        for (std::size_t i = 0; i < vertices; ++i)
          for (std::size_t j = 0; j < vertices; ++j)
            all[i * vertices + j]
              = std::min(all[i * vertices + j], all[i * vertices + k] + all[k * vertices + j]);
      std::int64_t sum = 0;
      for (const auto way : all)
        sum += way;
      return sum;
    },
};

} // namespace basal::bench
