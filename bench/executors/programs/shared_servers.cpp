// shared_servers: two clients ask two servers in turn, one question at a time, and each answer
// takes some 300 us. Where both clients ask the same server, its second message keeps whom it has
// answered waiting, unless that one runs elsewhere meanwhile: then both go from server to server
// together, and one CPU does all the work.
//
// Size: questions of each client.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <array>
#include <cstddef>

namespace basal::bench {

namespace {

constexpr int steps = 100'000;
constexpr std::int64_t num_clients = 2;

using servers = std::array<caf::actor, 2>;

caf::behavior server() {
  return {[](std::int64_t question) { return computed(question, steps); }};
}

/// Asks the questions from `next` to `end`.
void ask(caf::event_based_actor* self, const servers& whom, std::int64_t next, std::int64_t end,
         std::int64_t sum, const caf::actor& observer) {
  if (next == end) {
    self->send(observer, sum);
    return;
  }
  self->request(whom[static_cast<std::size_t>(next) % whom.size()], caf::infinite, next)
    .then([=](std::int64_t answer) { ask(self, whom, next + 1, end, sum + answer, observer); });
}

} // namespace

extern constinit const program shared_servers{
  .name = "shared_servers",
  .size = 60,
  .quick_size = 12,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const servers both{system.spawn(server), system.spawn(server)};
      for (std::int64_t client = 0; client < num_clients; ++client)
        system.spawn([=, observer = watching.handle()](caf::event_based_actor* self) {
          ask(self, both, client * size, (client + 1) * size, 0, observer);
        });
      const auto sum = watching.sum_of(num_clients);
      for (const auto& each : both)
        caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
      watching.await_end();
      return sum;
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t question = 0; question < num_clients * size; ++question)
        sum += computed(question, steps);
      return sum;
    },
};

} // namespace basal::bench
