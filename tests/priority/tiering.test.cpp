#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <basal/priority/runtime_tracker.hpp>
#include <basal/priority/tiering.hpp>

#include "pool_support.hpp"

using basal::priority::compile_state;
using basal::priority::tiering_config;
using namespace test;

namespace {

/// Items are numbers; the code of item i for tier t is 10 * i + t.
using tiers = basal::priority::tiering<int, int>;

std::unique_ptr<const int> compile(const int& item, std::size_t tier) {
  return std::make_unique<const int>(10 * item + static_cast<int>(tier));
}

tiering_config at_once() {
  tiering_config config;
  config.in_caller = true;
  return config;
}

/// Until `done()`, at most 20 s.
template <class F>
bool eventually(F done) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!done() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  return done();
}

} // namespace

TEST_CASE("an item climbs with the executions that the thresholds say") {
  executor_pool executors{executors_config(1)};
  tiers all{background_pool::of(executors), compile, at_once()};
  auto& item = all.add(4);
  CHECK(item.item() == 4);
  std::vector<std::size_t> ran(4);
  for (int i = 1; i <= 600; ++i) {
    const auto [tier, code] = item.execute();
    const std::size_t expected = i < 2 ? 0 : i < 100 ? 1 : i < 500 ? 2 : 3;
    REQUIRE(tier == expected);
    REQUIRE((code == nullptr) == (tier == 0));
    REQUIRE((code == nullptr || *code == 40 + static_cast<int>(tier)));
    ++ran[tier];
  }
  CHECK(ran == std::vector<std::size_t>{1, 98, 400, 101});
  CHECK(item.executions() == 500); // nothing to decide after that
  for (const auto& t : all.stats()) {
    CHECK(t.started == 1);
    CHECK(t.ready == 1);
    CHECK(t.failed + t.superseded + t.unrun == 0);
    CHECK(t.spent >= t.longest);
  }
}

TEST_CASE("thresholds and the number of tiers are the client's") {
  executor_pool executors{executors_config(1)};
  auto config = at_once();
  config.thresholds = {1, 3};
  tiers all{background_pool::of(executors), compile, config};
  auto& item = all.add(1);
  CHECK(item.execute().tier == 1);
  CHECK(item.execute().tier == 1);
  CHECK(item.execute().tier == 2);
  CHECK(item.best().tier == 2);
  CHECK(all.stats().size() == 2);
}

TEST_CASE("execution goes on in the tier below while the executors are busy") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  tiers all{pool, compile};
  auto& item = all.add(7);
  {
    blocker busy{pool};
    for (int i = 0; i < 1000; ++i)
      REQUIRE(item.execute().code == nullptr);
    CHECK(pool.queued() == 3); // one compilation for each tier, however often it was executed
    CHECK(item.state(1) == compile_state::compiling);
  }
  REQUIRE(eventually([&] { return item.best().tier == 3; }));
  CHECK(*item.execute().code == 73);
}

TEST_CASE("compilations come after more urgent work and before less urgent work") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  journal order;
  auto config = tiering_config{};
  config.thresholds = {1};
  tiers all{pool,
            [&](const int& item, std::size_t tier) {
              order.note(2);
              return compile(item, tier);
            },
            std::move(config)};
  auto& item = all.add(1);
  {
    blocker busy{pool};
    pool.post({level::low, {}}, [&] { order.note(3); });
    item.execute();
    pool.post({level::normal, {}}, [&] { order.note(1); });
  }
  REQUIRE(eventually([&] { return order.entries().size() == 3; }));
  CHECK(order.entries() == std::vector<int>{1, 2, 3});
}

TEST_CASE("a tier that cannot be compiled is left out, counted, and not tried again") {
  executor_pool executors{executors_config(1)};
  int calls = 0;
  tiers all{background_pool::of(executors),
            [&](const int& item, std::size_t tier) -> std::unique_ptr<const int> {
              ++calls;
              if (tier == 2)
                throw std::runtime_error("no code today");
              return tier == 3 ? nullptr : compile(item, tier);
            },
            at_once()};
  auto& item = all.add(1);
  for (int i = 0; i < 100'000; ++i)
    item.execute();
  CHECK(calls == 3);
  CHECK(item.best().tier == 1);
  CHECK(*item.best().code == 11);
  CHECK(item.state(1) == compile_state::ready);
  CHECK(item.failure(1) == nullptr);
  for (const std::size_t tier : {2, 3}) {
    CHECK(item.state(tier) == compile_state::failed);
    REQUIRE(item.failure(tier) != nullptr);
    CHECK_THROWS_WITH(std::rethrow_exception(item.failure(tier)),
                      ContainsSubstring(tier == 2 ? "no code today" : "returned no code"));
    CHECK(all.stats()[tier - 1].failed == 1);
    CHECK(all.stats()[tier - 1].started == 1);
  }
}

TEST_CASE("an item whose lower tier fails still reaches the higher ones") {
  executor_pool executors{executors_config(1)};
  tiers all{background_pool::of(executors),
            [&](const int& item, std::size_t tier) {
              if (tier == 1)
                throw 1;
              return compile(item, tier);
            },
            at_once()};
  auto& item = all.add(1);
  for (int i = 0; i < 99; ++i)
    CHECK(item.execute().tier == 0);
  CHECK(item.execute().tier == 2);
}

TEST_CASE("a lower tier is not compiled any more when a higher one is ready") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  // Tier 1 is known to take long, so the queue puts it behind the others.
  for (int i = 0; i < 20; ++i) {
    pool.runtimes().record(basal::priority::task_key{"compile", 1}, 20s);
    for (const std::uint64_t tier : {2, 3})
      pool.runtimes().record(basal::priority::task_key{"compile", tier}, 1ms);
  }
  tiers all{pool, compile};
  auto& item = all.add(1);
  {
    blocker busy{pool};
    for (int i = 0; i < 500; ++i)
      item.execute();
  }
  REQUIRE(eventually([&] { return item.state(1) != compile_state::compiling; }));
  CHECK(item.state(1) == compile_state::superseded);
  CHECK(all.stats()[0].superseded == 1);
  CHECK(all.stats()[0].started == 0);
  CHECK(item.best().tier >= 2);
}

TEST_CASE("a compilation that finds no room is tried again later") {
  executor_pool executors{executors_config(1)};
  background_config one_place;
  one_place.max_queued = 1;
  one_place.when_full = basal::priority::full_policy::wait;
  auto& pool = background_pool::build(executors, one_place);
  auto config = tiering_config{};
  config.thresholds = {2};
  tiers all{pool, compile, std::move(config)};
  auto& item = all.add(1);
  {
    blocker busy{pool};
    pool.post({level::normal, {}}, [] {}); // takes the one place
    for (int i = 0; i < 10; ++i)
      CHECK(item.execute().tier == 0); // never waits, whatever the policy
    CHECK(item.state(1) == compile_state::not_started);
    CHECK(all.stats()[0].unrun == 1);
  }
  REQUIRE(eventually([&] { return pool.queued() == 0; }));
  for (int i = 0; i < 64; ++i)
    item.execute();
  CHECK(eventually([&] { return item.best().tier == 1; }));
  CHECK(all.stats()[0].started == 1);
}

TEST_CASE("execution goes on when the pool is shut down") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  tiers all{pool, compile};
  auto& queued = all.add(1);
  auto& later = all.add(2);
  {
    blocker busy{pool};
    for (int i = 0; i < 3; ++i)
      queued.execute();
    CHECK(queued.state(1) == compile_state::compiling);
    std::ignore = pool.shutdown(basal::executors::stop_mode::discard, 0s);
    CHECK(queued.state(1) == compile_state::not_started);
  }
  for (int i = 0; i < 1000; ++i) {
    CHECK(queued.execute().tier == 0);
    CHECK(later.execute().tier == 0);
  }
  CHECK(all.stats()[0].started == 0);
  CHECK(all.stats()[0].unrun > 1);
}

TEST_CASE("the end of a tiering cancels what has not begun and waits for what has") {
  std::latch begun{1};
  std::atomic<int> calls{0}, returned{0};
  std::latch open{1};
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  std::optional<std::thread> opener;
  {
    tiers all{pool, [&](const int& item, std::size_t tier) {
                ++calls;
                begun.count_down();
                open.wait();
                ++returned;
                return compile(item, tier);
              }};
    auto& item = all.add(1);
    for (int i = 0; i < 100; ++i)
      item.execute();
    begun.wait();
    opener.emplace([&] {
      std::this_thread::sleep_for(20ms);
      open.count_down();
    });
  }
  CHECK(calls == 1);
  CHECK(returned == 1);
  opener->join();
}

TEST_CASE("threads that execute the same items compile each once per tier") {
  std::atomic<int> wrong{0};
  executor_pool executors{executors_config(2)};
  tiers all{background_pool::of(executors), compile};
  std::vector<tiers::entry*> items;
  for (int i = 0; i < 50; ++i)
    items.push_back(&all.add(i));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 400; ++round)
        for (auto* item : items) {
          const auto [tier, code] = item->execute();
          if (tier != 0 && *code != 10 * item->item() + static_cast<int>(tier))
            ++wrong;
        }
    });
  for (auto& t : threads)
    t.join();
  CHECK(wrong == 0);
  CHECK(eventually([&] {
    return std::all_of(items.begin(), items.end(), [](auto* i) { return i->best().tier == 3; });
  }));
  CHECK(eventually([&] {
    for (const auto& t : all.stats())
      if (t.ready + t.superseded != 50)
        return false;
    return true;
  }));
  for (const auto& t : all.stats())
    CHECK(t.started == t.ready);
}

TEST_CASE("what makes no sense is refused by its name") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  const auto refusal = [&](std::vector<std::uint64_t> thresholds) -> std::string {
    tiering_config config;
    config.thresholds = std::move(thresholds);
    try {
      tiers all{pool, compile, config};
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK_THAT(refusal({}), ContainsSubstring("thresholds has 0 elements, not 1 to 8"));
  CHECK_THAT(refusal({1, 2, 3, 4, 5, 6, 7, 8, 9}), ContainsSubstring("has 9 elements"));
  CHECK_THAT(refusal({0}), ContainsSubstring("thresholds has 0 after 0"));
  CHECK_THAT(refusal({2, 100, 100}), ContainsSubstring("has 100 after 100"));
  CHECK(refusal({1, 2, 3, 4, 5, 6, 7, 8}) == "accepted");
  CHECK_THROWS_WITH((tiers{pool, nullptr}), ContainsSubstring("needs a compiler"));
}
