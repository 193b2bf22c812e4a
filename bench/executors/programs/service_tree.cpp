// A tree of services: each has three others which it asks, by request and response, and adds up
// what they answer; the leaves compute for 1 us. Eight clients ask the root, one request after the
// other. Every service is known to one other, and all of them wait for somebody.
//
// Size: requests of each client, of 80 messages each. Leaves answer with what they computed.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/response_promise.hpp>

#include <memory>
#include <vector>

namespace basal::bench {

namespace {

constexpr std::int64_t num_clients = 8;
constexpr int num_levels = 4;
constexpr int num_children = 3;
constexpr std::int64_t num_leaves = 27;
constexpr int leaf_steps = 400;

struct open_request {
  caf::response_promise promise;
  std::int64_t sum = 0;
  int missing = num_children;
};

caf::behavior service(caf::event_based_actor* self, int levels) {
  if (levels == 1)
    return {[](std::int64_t number) { return computed(number, leaf_steps); }};
  std::vector<caf::actor> children;
  for (int i = 0; i < num_children; ++i)
    children.push_back(self->spawn(service, levels - 1));
  return {[=](std::int64_t number) {
    auto open = std::make_shared<open_request>(open_request{self->make_response_promise()});
    for (const auto& child : children)
      self->request(child, caf::infinite, number).then([=](std::int64_t value) {
        open->sum += value;
        if (--open->missing == 0)
          open->promise.deliver(open->sum);
      });
    return open->promise;
  }};
}

void ask(caf::event_based_actor* self, const caf::actor& root, std::int64_t number,
         std::int64_t sum, const caf::actor& observer) {
  self->request(root, caf::infinite, number).then([=](std::int64_t value) {
    if (number > 1)
      ask(self, root, number - 1, sum + value, observer);
    else
      self->send(observer, sum + value);
  });
}

} // namespace

extern constinit const program service_tree{
  .name = "service_tree",
  .size = 60,
  .quick_size = 12,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      {
        const auto root = system.spawn(service, num_levels);
        for (std::int64_t i = 0; i < num_clients; ++i)
          system.spawn([=, observer = watching.handle()](caf::event_based_actor* self) {
            ask(self, root, size, 0, observer);
          });
      }
      return watching.sum_of_answers(num_clients);
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 1; number <= size; ++number)
        sum += num_clients * num_leaves * computed(number, leaf_steps);
      return sum;
    },
};

} // namespace basal::bench
