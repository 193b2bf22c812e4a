// bursts: a thread outside of the system sends 50 messages at a time to four servers, and waits for
// all answers before the next ones. The thread goes on sending while servers begin, so what shows
// is what a message from outside costs, and who wakes whom how often.
//
// Size: bursts.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <array>

namespace basal::bench {

namespace {

constexpr std::int64_t at_once = 50;

caf::behavior server(caf::event_based_actor* self, const caf::actor& observer) {
  return {[=](std::int64_t number) { self->send(observer, number + 1); }};
}

} // namespace

extern constinit const program bursts{
  .name = "bursts",
  .size = 200,
  .quick_size = 40,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto whom = watching.handle();
      const std::array servers{system.spawn(server, whom), system.spawn(server, whom),
                               system.spawn(server, whom), system.spawn(server, whom)};
      std::int64_t sum = 0;
      for (std::int64_t burst = 0; burst < size; ++burst) {
        for (std::int64_t number = 0; number < at_once; ++number)
          caf::anon_send(servers[static_cast<std::size_t>(number) % servers.size()], number);
        sum += watching.sum_of(at_once);
      }
      for (const auto& each : servers)
        caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
      watching.await_end();
      return sum;
    },
  .expected = [](std::int64_t size) { return size * (at_once * (at_once + 1) / 2); },
};

} // namespace basal::bench
