// Handlers that block the thread they run on until another actor has answered. CAF has at least
// four threads, so that three of them at once do no harm on any machine.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/function_view.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace conformance {

namespace {

using namespace std::chrono_literals;
using number = caf::typed_actor<caf::replies_to<int>::with<int>>;

number::behavior_type doubler() {
  return {[](int x) { return 2 * x; }};
}

// Asks only when all of them are inside of their handlers.
caf::behavior blocker(caf::event_based_actor* self, std::atomic<int>* inside, int all) {
  return {[=](int x) {
    ++*inside;
    while (*inside < all)
      std::this_thread::sleep_for(1ms);
    auto twice = caf::make_function_view(self->spawn(doubler));
    const auto y = *twice(x);
    int z = 0;
    caf::scoped_actor asks{self->system()};
    asks->request(self->spawn(doubler), caf::infinite, y)
      .receive([&](int answer) { z = answer; }, [](caf::error&) {});
    return z;
  }};
}

} // namespace

void blocked_handlers(caf::actor_system& system, transcript& out, int count) {
  auto& log = out.begin("blocked handlers");
  caf::scoped_actor self{system};
  std::atomic<int> inside{0};
  std::vector<caf::actor> all;
  for (int i = 0; i < count; ++i)
    all.push_back(self->spawn(blocker, &inside, count));
  for (const auto& one : all)
    self->send(one, 10);
  int right = 0;
  for (int i = 0; i < count; ++i)
    self->receive([&](int answer) { right += answer == 40 ? 1 : 0; });
  log.line(right == count ? "all have their answers" : "answers are missing");
}

} // namespace conformance
