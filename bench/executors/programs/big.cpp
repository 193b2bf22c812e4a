// big (BenchErl): every actor sends a ping to every other one and gets a pong back. Many actors are
// runnable, each with several messages.
//
// Size: actors. Each answers with the pongs that it got; it ends when all have.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

using ping = caf::atom_constant<caf::atom("ping")>;
using pong = caf::atom_constant<caf::atom("pong")>;
using complete = caf::atom_constant<caf::atom("complete")>;
using end = caf::atom_constant<caf::atom("end")>;

caf::behavior peer(caf::event_based_actor* self, const caf::actor& judge) {
  return {
    [=](const std::vector<caf::actor>& everybody) {
      for (const auto& other : everybody)
        if (other != self)
          self->send(other, ping::value, static_cast<std::int64_t>(everybody.size()));
    },
    [](ping, std::int64_t actors) { return caf::make_message(pong::value, actors); },
    [=, pongs = std::int64_t{0}](pong, std::int64_t actors) mutable {
      if (++pongs == actors - 1)
        self->send(judge, complete::value, pongs);
    },
    [=](end) { self->quit(); },
  };
}

caf::behavior judge(caf::event_based_actor* self, const caf::actor& observer) {
  return {[=](const std::vector<caf::actor>& everybody) {
    self->become(
      [=, pongs = std::int64_t{0}, left = everybody.size()](complete, std::int64_t count) mutable {
        pongs += count;
        if (--left > 0)
          return;
        for (const auto& one : everybody)
          self->send(one, end::value);
        self->send(observer, pongs);
        self->quit();
      });
  }};
}

} // namespace

extern constinit const program big{
  .name = "big",
  .size = 150,
  .quick_size = 70,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto counting = system.spawn(judge, watching.handle());
      std::vector<caf::actor> peers;
      for (std::int64_t i = 0; i < size; ++i)
        peers.push_back(system.spawn(peer, counting));
      const auto everybody = caf::make_message(std::move(peers)); // shared by all who get it
      caf::anon_send(counting, everybody);
      for (const auto& one : everybody.get_as<std::vector<caf::actor>>(0))
        caf::anon_send(one, everybody);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return size * (size - 1); },
};

} // namespace basal::bench
