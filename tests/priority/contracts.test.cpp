// Misuse of the module: builds with asserts name it.

#include <basal/priority/evaluation.hpp>
#include <basal/priority/priority_queue.hpp>
#include <basal/priority/tiering.hpp>

#include "pool_support.hpp"
#include "support/contract.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <thread>

using namespace basal::priority;
using basal::test::expect_broken_contract;

TEST_CASE("a key of the queue is a finite number") {
  for (const double key :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    expect_broken_contract("a key is a finite number", [=] {
      priority_queue<int> queue{{.capacity = 2}};
      queue.try_push(key, 1, 0);
    });
}

TEST_CASE("a consumer takes from the queue that it was made for") {
  expect_broken_contract("a consumer takes from the queue it was made for", [] {
    priority_queue<int> one{{.capacity = 4, .parts = 1}};
    priority_queue<int> two{{.capacity = 4, .parts = 2}};
    priority_queue<int>::consumer of_one{one, 0};
    (void)two.try_pop(of_one);
  });
}

TEST_CASE("tiers are numbered from 1") {
  using tiers = tiering<int, int>;
  for (const std::size_t tier : {std::size_t{0}, std::size_t{4}})
    expect_broken_contract("tiers are numbered from 1 to how many there are", [=] {
      basal::executors::executor_pool pool{{.executors = 1}};
      tiers all{background_pool::of(pool),
                [](const int&, std::size_t) { return std::make_unique<const int>(1); }};
      (void)all.add(1).state(tier);
    });
}

TEST_CASE("an evaluation ends on the thread where it began") {
  expect_broken_contract("an evaluation ends on the thread where it began", [] {
    basal::executors::executor_pool pool{{.executors = 1}};
    std::optional<evaluation> one;
    one.emplace(background_pool::of(pool));
    std::thread{[&] { one.reset(); }}.join();
  });
}
