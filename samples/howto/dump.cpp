// Finding what a program waits for.
#include <basal/actors/actors.hpp>
#include <basal/actors/dump.hpp>

#include <caf/event_based_actor.hpp>

#include <atomic>
#include <iostream>
#include <string>

std::atomic<bool> released{false};
std::atomic<bool> begun{false};

caf::behavior waiter(caf::event_based_actor* self) {
  return {[=](int) {
    basal::actors::offload(self, [] { // the handler's fiber waits for it
      begun = true;
      begun.notify_all();
      released.wait(false); // blocks the thread of a compute executor
    });
  }};
}

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  const basal::actors::dump_on_signal on_quit{system}; // kill -QUIT, or Ctrl-Backslash
  caf::anon_send(system.spawn(waiter), 1);
  begun.wait(false);
  auto text = basal::actors::dump(system);
  while (text.find("waits for") == std::string::npos) // the handler is about to
    text = basal::actors::dump(system);
  std::cerr << text;
  released = true;
  released.notify_all();
  std::cout << "a handler waits\n";
}
