// concurrent sorted list (Savina): ten clients insert into a sorted list that one actor keeps, ask
// whether it holds a number, and how long it is. A client waits for each answer before it asks
// again. A request takes the keeper longer, the longer the list is.
//
// Size: requests of each client. Of ten, two insert and one asks for the length.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <forward_list>

namespace basal::bench {

namespace {

using insert = caf::atom_constant<caf::atom("insert")>;
using contains = caf::atom_constant<caf::atom("contains")>;
using length = caf::atom_constant<caf::atom("length")>;

constexpr std::int64_t num_clients = 10;

struct ordered {
  std::forward_list<std::int64_t> numbers;
  std::int64_t length = 0;

  // The last place whose number is less.
  auto before(std::int64_t number) {
    auto place = numbers.before_begin();
    for (auto next = numbers.begin(); next != numbers.end() && *next < number; ++next)
      place = next;
    return place;
  }
};

caf::behavior keeper(caf::stateful_actor<ordered>* self) {
  return {
    [=](insert, std::int64_t number) {
      auto& mine = self->state;
      mine.numbers.insert_after(mine.before(number), number);
      ++mine.length;
      return std::int64_t{1};
    },
    [=](contains, std::int64_t number) {
      auto& mine = self->state;
      const auto found = std::next(mine.before(number));
      return std::int64_t{found != mine.numbers.end() && *found == number};
    },
    // How long it is depends on the other clients: the answer that counts is that it is not empty.
    [=](length) { return std::int64_t{self->state.length > 0}; },
  };
}

// The n-th request is 0: insert n, 5: insert -n, 9: length, others: is the number that request 0
// inserted there. All answers are 1; numbers of different clients differ.
caf::behavior client(caf::event_based_actor* self, std::int64_t number, const caf::actor& keeper,
                     std::int64_t requests, const caf::actor& observer) {
  auto ask = [=](std::int64_t request) {
    const auto inserted = request / 10 * num_clients + number + 1;
    switch (request % 10) {
    case 0:
      return self->send(keeper, insert::value, inserted);
    case 5:
      return self->send(keeper, insert::value, -inserted);
    case 9:
      return self->send(keeper, length::value);
    default:
      return self->send(keeper, contains::value, inserted);
    }
  };
  ask(0);
  return {[=, sum = std::int64_t{0}, request = std::int64_t{0}](std::int64_t right) mutable {
    sum += right;
    if (++request < requests) {
      ask(request);
      return;
    }
    self->send(observer, sum);
    self->quit();
  }};
}

} // namespace

extern constinit const program sorted_list{
  .name = "sorted_list",
  .size = 800,
  .quick_size = 300,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      {
        const auto shared = system.spawn(keeper); // ends when nobody knows it any more
        for (std::int64_t number = 0; number < num_clients; ++number)
          system.spawn(client, number, shared, size, watching.handle());
      }
      return watching.sum_of_answers(num_clients);
    },
  .expected = [](std::int64_t size) { return num_clients * size; },
};

} // namespace basal::bench
