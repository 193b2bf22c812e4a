// Adaptive actors of all kinds that talk to each other on several executors: what they compute
// together must come out right, and nothing get lost. BASAL_STRESS_ROUNDS=100 for more.

#include "actors/adaptive_fixture.hpp"

#include <basal/actors/offload.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/spawn_adaptive.hpp>

#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

using namespace adaptive_tests;
using basal::actors::adaptive;
using basal::posse::member;
using caf::behavior;
using caf::event_based_actor;

namespace {

using get_atom = caf::get_atom;

std::int64_t sum_to(member& m, std::int64_t from, std::int64_t to) {
  if (to - from < 64) {
    std::int64_t result = 0;
    for (auto i = from; i < to; ++i)
      result += i;
    return result;
  }
  const auto middle = from + (to - from) / 2;
  auto [a, b] = m.fork_merge([=](auto& left) { return sum_to(left, from, middle); },
                             [=](auto& right) { return sum_to(right, middle, to); });
  return a + b;
}
constexpr basal::posse::pure<sum_to> pure_sum{"sum_to"};

struct account {
  std::int64_t sum = 0;
};

/// Adds up what it is sent, in a way that depends on the number, and passes smaller ones on.
behavior adder(caf::stateful_actor<account>* self, caf::actor next) {
  return {adaptive(self,
                   [=](std::int64_t x) {
                     auto& sum = self->state.sum;
                     if (x % 5 == 0)
                       burn(std::chrono::microseconds{x % 200});
                     if (x % 7 == 0)
                       sum += basal::actors::offload(self, [x] { return x; });
                     else if (x % 11 == 0)
                       sum += basal::actors::spawn_adaptive(self, [x] { return x; }).get();
                     else if (x % 13 == 0)
                       sum += pure_sum(self, 0, x) - x * (x - 1) / 2 + x;
                     else
                       sum += x;
                     if (next && x > 0)
                       self->send(next, x - 1);
                   }),
          [=](get_atom) { return self->state.sum; }};
}

int rounds() {
  const auto* text = std::getenv("BASAL_STRESS_ROUNDS");
  return text != nullptr ? std::atoi(text) : 2;
}

} // namespace

TEST_CASE("sums that adaptive actors add up together come out right") {
  constexpr std::int64_t count = 400; // numbers 1 to 400
  constexpr int length = 5;           // of a chain
  for (int round = 0; round < rounds(); ++round) {
    fixture f{2, 2};
    std::vector<caf::actor> chain(length); // the last one has none behind it
    for (int i = length - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      chain[at] = f.system.spawn(adder, i + 1 < length ? chain[at + 1] : caf::actor{});
    }
    // A few that fail on the way, whose failures are their own.
    std::vector<caf::actor> failing;
    for (int i = 0; i < 20; ++i)
      failing.push_back(f.system.spawn([](event_based_actor* me) -> behavior {
        me->set_exception_handler(
          [](std::exception_ptr&) -> caf::error { return caf::sec::runtime_error; });
        return {adaptive(me, [](std::int64_t) -> int { throw std::runtime_error("on purpose"); })};
      }));
    for (std::int64_t x = 1; x <= count; ++x) {
      f.self->send(chain[0], x);
      if (x % 20 == 0)
        f.self->send(failing[static_cast<std::size_t>(x / 20 - 1)], x);
    }
    for (const auto& one : failing)
      f.self->wait_for(one);
    // A message that comes after all others of its sender has all that it asks for behind it.
    for (std::size_t i = 0; i < length; ++i) {
      // Each number is one less than before; those that are 0 went no further.
      const auto most = count - static_cast<std::int64_t>(i);
      CHECK(f.ask<std::int64_t>(chain[i], get_atom::value) == most * (most + 1) / 2);
    }
  }
}
