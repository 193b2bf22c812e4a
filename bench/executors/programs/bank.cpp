// bank transactions (Savina): a teller orders transfers between 500 accounts. The account that pays
// asks the other one to take the money, waits for the answer, and then tells the teller.
//
// Size: transfers, all ordered at once. The answer is the money that moved.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <vector>

namespace basal::bench {

namespace {

using pay = caf::atom_constant<caf::atom("pay")>;
using take = caf::atom_constant<caf::atom("take")>;

constexpr std::uint64_t num_accounts = 500;

std::int64_t amount_of(std::int64_t transfer) {
  return 1 + transfer % 97;
}

struct account_state {
  std::int64_t balance = 0;
};

caf::behavior account(caf::stateful_actor<account_state>* self) {
  return {
    [=](pay, std::int64_t amount, const caf::actor& to) {
      self->state.balance -= amount;
      auto promise = self->make_response_promise();
      self->request(to, caf::infinite, take::value, amount).await([=](std::int64_t taken) mutable {
        promise.deliver(taken);
      });
      return promise;
    },
    [=](take, std::int64_t amount) {
      self->state.balance += amount;
      return amount;
    },
  };
}

caf::behavior teller(caf::event_based_actor* self, std::int64_t transfers,
                     const caf::actor& observer) {
  std::vector<caf::actor> accounts;
  for (std::uint64_t i = 0; i < num_accounts; ++i)
    accounts.push_back(self->spawn(account));
  for (std::int64_t i = 0; i < transfers; ++i) {
    // Towards the higher number: two that pay each other and wait would wait for ever.
    const auto drawn = scrambled(static_cast<std::uint64_t>(i));
    const auto from = drawn % (num_accounts / 2);
    const auto to = num_accounts / 2 + (drawn >> 32) % (num_accounts / 2);
    self->send(accounts[from], pay::value, amount_of(i), accounts[to]);
  }
  return {[=, sum = std::int64_t{0}, left = transfers](std::int64_t moved) mutable {
    sum += moved;
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program bank{
  .name = "bank",
  .size = 8'000,
  .quick_size = 3'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(teller, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < size; ++i)
        sum += amount_of(i);
      return sum;
    },
};

} // namespace basal::bench
