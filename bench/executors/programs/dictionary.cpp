// concurrent dictionary (Savina): 20 clients read and write a dictionary that one actor keeps. A
// client waits for each answer before it asks again; one request in ten writes.
//
// Size: requests of each client. Key k always holds 3 k, so every answer is known.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <unordered_map>

namespace basal::bench {

namespace {

using get = caf::atom_constant<caf::atom("get")>;
using put = caf::atom_constant<caf::atom("put")>;

constexpr std::int64_t num_clients = 20;
constexpr std::int64_t num_keys = 4096;

std::int64_t key_of(std::int64_t client, std::int64_t request) {
  return static_cast<std::int64_t>(
    scrambled(static_cast<std::uint64_t>(client * 1'000'000 + request)) % num_keys);
}

struct shelf {
  std::unordered_map<std::int64_t, std::int64_t> values;
};

caf::behavior keeper(caf::stateful_actor<shelf>* self) {
  for (std::int64_t key = 0; key < num_keys; ++key)
    self->state.values.emplace(key, 3 * key);
  return {
    [=](get, std::int64_t key) { return self->state.values.at(key); },
    [=](put, std::int64_t key, std::int64_t value) {
      self->state.values[key] = value;
      return value;
    },
  };
}

caf::behavior client(caf::event_based_actor* self, std::int64_t number, const caf::actor& keeper,
                     std::int64_t requests, const caf::actor& observer) {
  auto ask = [=](std::int64_t request) {
    const auto key = key_of(number, request);
    if (request % 10 == 0)
      self->send(keeper, put::value, key, 3 * key);
    else
      self->send(keeper, get::value, key);
  };
  ask(0);
  return {[=, sum = std::int64_t{0}, request = std::int64_t{0}](std::int64_t value) mutable {
    sum += value;
    if (++request < requests) {
      ask(request);
      return;
    }
    self->send(observer, sum);
    self->quit();
  }};
}

} // namespace

extern constinit const program dictionary{
  .name = "dictionary",
  .size = 1'500,
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
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 0; number < num_clients; ++number)
        for (std::int64_t request = 0; request < size; ++request)
          sum += 3 * key_of(number, request);
      return sum;
    },
};

} // namespace basal::bench
