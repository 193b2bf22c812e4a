// How many messages an actor may handle in one turn, by a clock that the test moves.

#include "turn.hpp"

#include <basal/executors/executor_pool.hpp>

#include "executors/closure_task.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

using namespace basal::executors;
using basal::actors::turn;

namespace {

constexpr auto any_number = std::numeric_limits<std::size_t>::max();

std::uint64_t time_now = 0;

pool_config stepped() {
  time_now = std::uint64_t{1} << 40;
  pool_config config;
  config.simulate = {.ticks = []() noexcept { return time_now; }, .seed = 1, .stepped = true};
  config.newest_ops = &task::ops;
  return config;
}

/// The batches of a turn in which each message takes `ticks`, if the mailbox is never empty.
std::vector<std::size_t> batches(executor& self, std::uint64_t ticks, std::size_t most) {
  std::vector<std::size_t> result;
  turn t{self, most};
  do {
    result.push_back(t.next_batch());
    time_now += ticks * t.next_batch();
    self.look(time_now);
  } while (t.spend(t.next_batch()));
  return result;
}

/// The same for an actor that comes first on its executor.
std::vector<std::size_t> batches(executor_pool& pool, std::uint64_t per_quantum, std::size_t most) {
  std::vector<std::size_t> result;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.look(self.now());
    result = batches(self, self.quantum_ticks() / per_quantum, most);
  })));
  pool.run_until_idle();
  return result;
}

using list = std::vector<std::size_t>;

} // namespace

TEST_CASE("a turn takes as many messages as fit into a quantum, beginning with two") {
  executor_pool pool{stepped()};
  CHECK(batches(pool, 200, any_number) == list{2, 8, 32, 128, 30});
  CHECK(pool.at(0).stats().quantum_ends == 1);
  CHECK(batches(pool, 12, any_number) == list{2, 8, 2});
  CHECK(batches(pool, 1, any_number) == list{2}); // two quanta, but CAF cannot be told less
  CHECK(pool.at(0).stats().quantum_ends == 3);
}

TEST_CASE("a turn that ends by max-throughput is no quantum's end") {
  executor_pool pool{stepped()};
  CHECK(batches(pool, 200, 20) == list{2, 8, 10});
  CHECK(batches(pool, 200, 11) == list{2, 8}); // a single message is left for the next turn
  CHECK(batches(pool, 200, 1) == list{2});
  CHECK(pool.at(0).stats().quantum_ends == 0);
}

TEST_CASE("an actor that was just woken may take sixteen times as long as what woke it") {
  executor_pool pool{stepped()};
  list fed, queued;
  const auto quantum = pool.at(0).quantum_ticks();
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(task::make([&](executor& e) { fed = batches(e, quantum, any_number); }));
    time_now += 3 * quantum;
    self.look(time_now);
  })));
  pool.run_until_idle();
  CHECK(fed == list{2, 8, 32, 6}); // 48 quanta
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor& e) { queued = batches(e, quantum, any_number); }));
    time_now += 3 * quantum;
    self.look(time_now);
  })));
  pool.run_until_idle();
  CHECK(queued == list{2});
}

TEST_CASE("a turn of long messages leaves the rest for later where it keeps others waiting") {
  auto config = stepped();
  config.executors = 2;
  executor_pool pool{config};
  pool.run_until_idle(); // the other executor looks for work
  list alone;
  list beside_another;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    const auto each = self.quantum_ticks() / 20;
    self.look(self.now());
    alone = batches(self, each, any_number);
    self.push_newest(task::make([](executor&) {}));
    beside_another = batches(self, each, any_number);
  })));
  pool.run_until_idle();
  CHECK(alone == list{2, 8, 10});
  CHECK(beside_another == list{2});
}
