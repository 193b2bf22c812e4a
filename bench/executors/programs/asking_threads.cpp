// threads that ask: two threads outside of the system ask four servers in turn, each for one answer
// at a time. A server is idle when it is asked, and so is the thread when it answers: what shows is
// what it takes to wake both.
//
// Size: questions of each thread.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace basal::bench {

namespace {

constexpr std::int64_t num_threads = 2;
constexpr auto patience = std::chrono::seconds{30};

caf::behavior server() {
  return {[](std::int64_t number) { return number + 1; }};
}

/// @returns the sum of the answers; less if one does not come
std::int64_t ask(caf::actor_system& system, const std::array<caf::actor, 4>& servers,
                 std::int64_t questions) {
  caf::scoped_actor self{system};
  std::int64_t sum = 0;
  bool came = true;
  for (std::int64_t number = 0; came && number < questions; ++number)
    self->request(servers[static_cast<std::size_t>(number) % servers.size()], patience, number)
      .receive([&](std::int64_t answer) { sum += answer; },
               [&](const caf::error&) { came = false; });
  return sum;
}

} // namespace

extern constinit const program asking_threads{
  .name = "asking_threads",
  .size = 1'000,
  .quick_size = 200,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const std::array servers{system.spawn(server), system.spawn(server), system.spawn(server),
                               system.spawn(server)};
      std::atomic<std::int64_t> sum{0};
      {
        std::array<std::jthread, num_threads> threads;
        for (auto& each : threads)
          each = std::jthread{[&] { sum += ask(system, servers, size); }};
      }
      for (const auto& each : servers)
        caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
      caf::anon_send(watching.handle(), sum.load());
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return num_threads * (size * (size + 1) / 2); },
};

} // namespace basal::bench
