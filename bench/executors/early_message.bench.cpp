// A message that a handler sends before it goes on computing for 2 ms: how long it takes until its
// receiver begins. Other executors are idle, so nobody needs to wait for the handler's end.
// Everything by default; the next handler begins when both have ended.
//
// early_message_p50_us, and early_message_p50_us_caf with CAF's `stealing`

#include "bench/support/bench.hpp"
#include "bench/support/statistics.hpp"

#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using namespace basal;
using clock_type = std::chrono::steady_clock;

using compute = caf::atom_constant<caf::atom("compute")>;
using computed = caf::atom_constant<caf::atom("computed")>;

// Stamps travel as counts: CAF cannot send a time_point of this clock.
std::int64_t stamp() {
  return clock_type::now().time_since_epoch().count();
}

caf::behavior receiver(caf::event_based_actor* self, const caf::actor& observer) {
  return {[=](std::int64_t sent) { self->send(observer, stamp() - sent); }};
}

caf::behavior sender(caf::event_based_actor* self, const caf::actor& to) {
  return {[=](compute) {
    const auto end = clock_type::now() + std::chrono::milliseconds{2};
    self->send(to, stamp());
    while (clock_type::now() < end) {
    }
    return computed::value;
  }};
}

double p50_us(caf::actor_system_config& config, bool quick) {
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto to = system.spawn(receiver, caf::actor{self});
  const auto from = system.spawn(sender, to);
  std::vector<double> us;
  for (int i = 0; i < (quick ? 100 : 500); ++i) {
    self->send(from, compute::value);
    int left = 2;
    self->receive_while([&] { return left > 0; })(
      [&](std::int64_t ns) {
        us.push_back(static_cast<double>(ns) / 1000);
        --left;
      },
      [&](computed) { --left; },
      caf::after(std::chrono::seconds{10}) >>
        [] { throw std::runtime_error("no message for 10 s"); });
  }
  return bench::median(us);
}

const bench::suite early_message_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  plan.measure("early_message_p50_us", [=] {
    actor_system_config config;
    return p50_us(config, quick);
  });
  plan.measure("early_message_p50_us_caf", [=] {
    caf::actor_system_config config;
    return p50_us(config, quick);
  });
}};

} // namespace
