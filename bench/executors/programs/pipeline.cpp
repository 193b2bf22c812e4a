// Pipeline: each item goes through five actors, which compute about a microsecond for it, one after
// the other. All stages have work at the same time, as a source keeps 16 items on their way; but a
// stage that handles its whole mailbox first keeps the next one waiting.
//
// Size: items. The answer is the sum of what comes out.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <algorithm>

namespace basal::bench {

namespace {

constexpr int num_stages = 5;
constexpr int steps = 300;
constexpr std::int64_t most_on_their_way = 16;

void feed(caf::event_based_actor* self, std::int64_t items, const caf::actor& observer) {
  const auto stage = [](caf::event_based_actor* actor, const caf::actor& next) -> caf::behavior {
    return {[=](std::int64_t item) { actor->send(next, computed(item, steps)); }};
  };
  auto next = caf::actor{self};
  for (int i = 0; i < num_stages; ++i)
    next = self->spawn<caf::linked>(stage, next);
  const auto begun = std::min(items, most_on_their_way);
  for (std::int64_t i = 0; i < begun; ++i)
    self->send(next, i);
  self->become(
    [=, begun = begun, ended = std::int64_t{0}, sum = std::int64_t{0}](std::int64_t item) mutable {
      sum += item;
      if (begun < items)
        self->send(next, begun++);
      if (++ended < items)
        return;
      self->send(observer, sum);
      self->quit(caf::exit_reason::user_shutdown); // and with it the stages
    });
}

} // namespace

extern constinit const program pipeline{
  .name = "pipeline",
  .size = 5'000,
  .quick_size = 500,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(feed, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        auto item = i;
        for (int s = 0; s < num_stages; ++s)
          item = computed(item, steps);
        sum += item;
      }
      return sum;
    },
};

} // namespace basal::bench
