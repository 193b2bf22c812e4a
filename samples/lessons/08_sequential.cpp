// Sequential code in a handler: get() waits for another actor's answer. The handler's fiber is
// suspended, its executor runs other actors, and the next messages to its own actor wait.
#include <basal/actors/actors.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
using basal::actors::get;

caf::behavior shop() {
  return {[](const std::string& item) { return static_cast<int>(item.size()) * 100; }};
}

caf::behavior bank(caf::event_based_actor*) {
  return {[](int amount) -> caf::result<std::string> {
    if (amount > 500)
      return caf::make_error(caf::sec::runtime_error, "not enough money");
    return "paid " + std::to_string(amount);
  }};
}

caf::behavior customer(caf::event_based_actor* self, caf::actor from, caf::actor account) {
  return {[=](const std::string& item) -> caf::result<std::string> {
    auto price = get<int>(self, from, 10s, item);
    if (!price)
      return price.error(); // the shop's error, the time-out, or an exit
    auto receipt = get<std::string>(self, account, 10s, *price);
    if (!receipt)
      return receipt.error();
    return item + ": " + *receipt;
  }};
}

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto buyer = system.spawn(customer, system.spawn(shop), system.spawn(bank));
  for (const char* item : {"apple", "grand piano"}) {
    const auto answer = get<std::string>(self, buyer, caf::infinite, std::string{item});
    std::cout << (answer ? *answer : system.render(answer.error())) << '\n';
  }
}
