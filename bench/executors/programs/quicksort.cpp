// quicksort (Savina): an actor splits its numbers at a pivot, gives the smaller and the larger ones
// to two new actors and puts what they answer together. Fewer than 1024 it sorts itself. Messages
// are long, and the tree of actors is uneven.
//
// Size: numbers. The answer is a sum in which each has its place as a factor.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <vector>

namespace basal::bench {

namespace {

using numbers = std::vector<std::int64_t>;
using smaller = caf::atom_constant<caf::atom("smaller")>;
using larger = caf::atom_constant<caf::atom("larger")>;
using whole = caf::atom_constant<caf::atom("whole")>;

constexpr std::size_t sorted_at_once = 1024;

std::int64_t sum_of_places(const numbers& all) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    sum += all[i] * static_cast<std::int64_t>(i % 1000);
  return sum;
}

numbers shuffled(std::int64_t count) {
  numbers all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::int64_t>(scrambled(static_cast<std::uint64_t>(i)) % 1'000'000));
  return all;
}

struct halves {
  numbers all; // the smaller ones, equal ones, and larger ones, at their places in the end
  int answers = 0;
};

// `Side` is what it is to the actor that it answers.
template <class Side>
caf::behavior sorter(caf::stateful_actor<halves>* self, const caf::actor& parent) {
  auto answer = [=] {
    self->send(parent, Side::value, std::move(self->state.all));
    self->quit();
  };
  auto take = [=](const numbers& sorted, bool at_the_end) {
    auto& all = self->state.all;
    std::copy(sorted.begin(), sorted.end(),
              at_the_end ? all.end() - static_cast<std::ptrdiff_t>(sorted.size()) : all.begin());
    if (++self->state.answers == 2)
      answer();
  };
  return {
    [=](const numbers& unsorted) {
      self->state.all = unsorted;
      auto& all = self->state.all;
      if (all.size() < sorted_at_once) {
        std::sort(all.begin(), all.end());
        answer();
        return;
      }
      const auto pivot = all[all.size() / 2];
      const auto low = std::partition(all.begin(), all.end(), [=](auto x) { return x < pivot; });
      const auto high = std::partition(low, all.end(), [=](auto x) { return x == pivot; });
      const caf::actor me{self};
      self->send(self->spawn(sorter<smaller>, me), numbers(all.begin(), low));
      self->send(self->spawn(sorter<larger>, me), numbers(high, all.end()));
    },
    [=](smaller, const numbers& sorted) { take(sorted, false); },
    [=](larger, const numbers& sorted) { take(sorted, true); },
  };
}

caf::behavior judge(caf::event_based_actor* self, std::int64_t count, const caf::actor& observer) {
  self->send(self->spawn(sorter<whole>, caf::actor{self}), shuffled(count));
  return {[=](whole, const numbers& sorted) {
    self->send(observer, sum_of_places(sorted));
    self->quit();
  }};
}

} // namespace

extern constinit const program quicksort{
  .name = "quicksort",
  .size = 200'000,
  .quick_size = 50'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(judge, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      auto all = shuffled(size);
      std::sort(all.begin(), all.end());
      return sum_of_places(all);
    },
};

} // namespace basal::bench
