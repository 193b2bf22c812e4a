// fan-in: 20 actors send to one, which acknowledges every hundredth message; each sender waits for
// that before it goes on. Shows a mailbox with several writers that never grows long.
//
// Size: windows of 100 messages per sender. Every message carries its number in the sender's count.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr std::int64_t num_senders = 20;
constexpr std::int64_t window = 100;

caf::behavior sender(caf::event_based_actor* self, const caf::actor& receiver,
                     std::int64_t messages) {
  auto send_window = [=](std::int64_t acknowledged) {
    if (acknowledged == messages) {
      self->quit();
      return;
    }
    for (std::int64_t i = 1; i <= window; ++i)
      self->send(receiver, acknowledged + i);
  };
  send_window(0);
  return {send_window};
}

caf::behavior receiver(caf::event_based_actor* self, std::int64_t messages,
                       const caf::actor& observer) {
  return {[=, sum = std::int64_t{0}, left = num_senders * messages](std::int64_t number) mutable {
    sum += number;
    if (number % window == 0)
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), number);
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program fan_in{
  .name = "fan_in_20",
  .size = 40,
  .quick_size = 8,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto messages = size * window;
      const auto to = system.spawn(receiver, messages, watching.handle());
      for (std::int64_t i = 0; i < num_senders; ++i)
        system.spawn(sender, to, messages);
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      const auto messages = size * window;
      return num_senders * (messages * (messages + 1) / 2);
    },
};

} // namespace basal::bench
