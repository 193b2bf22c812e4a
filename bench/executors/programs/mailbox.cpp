// mailbox performance (CAF's suite): 20 actors flood one with messages, without waiting for
// anything. Senders outrun the receiver, so what shows is a long mailbox, allocation and, where the
// scheduler lets the receiver fall behind, memory.
//
// Size: messages per sender. Every message carries its number in the sender's count.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr std::int64_t num_senders = 20;

void sender(caf::event_based_actor* self, const caf::actor& receiver, std::int64_t messages) {
  for (std::int64_t number = 1; number <= messages; ++number)
    self->send(receiver, number);
}

caf::behavior receiver(caf::event_based_actor* self, std::int64_t messages,
                       const caf::actor& observer) {
  return {[=, sum = std::int64_t{0}, left = num_senders * messages](std::int64_t number) mutable {
    sum += number;
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program mailbox{
  .name = "mailbox_20",
  .size = 4'000,
  .quick_size = 800,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto to = system.spawn(receiver, size, watching.handle());
      for (std::int64_t i = 0; i < num_senders; ++i)
        system.spawn(sender, to, size);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return num_senders * (size * (size + 1) / 2); },
};

} // namespace basal::bench
