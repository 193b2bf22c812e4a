// That background work comes last on its executors, and that they find it.

#include "pool_support.hpp"

#include "support/catch.hpp"

#include <basal/executors/executor.hpp>

using namespace test;
using basal::executors::executor;
using basal::executors::stop_mode;
using basal::executors::work_ops;

namespace {

/// Something submitted to the executors as an offloaded handler is.
struct handler {
  journal& ran;
  int number;
};

constexpr work_ops handler_ops{
  [](void* object, executor&) noexcept {
    auto& h = *static_cast<handler*>(object);
    h.ran.note(h.number);
  },
  [](void*) noexcept {},
};

} // namespace

TEST_CASE("what is offloaded or delivered goes before background work queued earlier") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  journal ran;
  handler offloaded{ran, 1};
  handler delegated{ran, 2};
  basal::executors::inbox_node node;
  node.item = {&delegated, &handler_ops};
  {
    blocker busy{pool};
    for (int i = 10; i < 15; ++i)
      pool.post({level::interactive, {}}, [&ran, i] { ran.note(i); });
    REQUIRE(executors.submit({&offloaded, &handler_ops}));
    executors.at(0).deliver(node);
  }
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  const auto order = ran.entries();
  REQUIRE(order.size() == 7);
  CHECK(order[0] + order[1] == 3); // both handlers, whichever first
  CHECK(order[2] == 10);
}

TEST_CASE("what comes in while background work is queued runs next") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  journal ran;
  std::vector<handler> handlers(10, handler{ran, 1});
  bool all_accepted = true; // the executor writes it, and has stopped when it is read
  {
    blocker busy{pool};
    for (auto& h : handlers)
      pool.post({}, [&] {
        ran.note(0);
        all_accepted = executors.submit({&h, &handler_ops}) && all_accepted;
      });
  }
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
  executors.stop(stop_mode::drain);
  CHECK(all_accepted);
  const auto order = ran.entries();
  REQUIRE(order.size() == 20);
  for (std::size_t i = 0; i < order.size(); ++i)
    CHECK(order[i] == static_cast<int>(i % 2));
}

TEST_CASE("work that has yielded goes before background work") {
  executor_pool executors{executors_config(1)};
  auto& pool = background_pool::of(executors);
  journal ran;
  struct yielding {
    journal& ran;
    background_pool& pool;
  } both{ran, pool};
  constexpr auto yield_ops = work_ops{
    [](void* object, executor& self) noexcept {
      auto& b = *static_cast<yielding*>(object);
      b.pool.post({level::interactive, {}}, [&b] { b.ran.note(9); });
      for (int i = 0; i < 3; ++i) {
        self.yield();
        b.ran.note(i);
      }
    },
    nullptr,
  };
  static constexpr auto ops = yield_ops;
  REQUIRE(executors.submit({&both, &ops}));
  while (ran.entries().size() < 4)
    std::this_thread::sleep_for(1ms);
  CHECK(ran.entries() == std::vector{0, 1, 2, 9});
}

TEST_CASE("an idle executor takes background work while another is busy") {
  executor_pool executors{executors_config(2)};
  auto& pool = background_pool::of(executors);
  blocker busy{pool};
  for (int i = 0; i < 100; ++i) {
    auto task = pool.submit([] { return 1; });
    REQUIRE(task.wait_for(10s));
  }
}

TEST_CASE("a burst of background work wakes all executors") {
  std::latch all_run{3};
  executor_pool executors{executors_config(3)};
  auto& pool = background_pool::of(executors);
  for (int i = 0; i < 3; ++i)
    pool.post({}, [&] { all_run.arrive_and_wait(); }); // ends only if three run at once
  CHECK(pool.shutdown(stop_mode::drain, 10s).complete);
}
