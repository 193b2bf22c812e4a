// Promises of both of Asio's homes: by itself, and in Boost. The file that includes this one says
// in asio_home which it is; no program may have both.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "stepped_pool.hpp"
#include "support/catch.hpp"

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config two_executors() {
  pool_config config;
  config.executors = 2;
  return config;
}

bool is_on(const executor_pool& pool) {
  auto* here = executor::current();
  return here != nullptr && &here->pool() == &pool;
}

// These versions of Asio have coroutines with g++ only.
#if defined(ASIO_HAS_CO_AWAIT) || defined(BOOST_ASIO_HAS_CO_AWAIT)
#  define BASAL_ASIO_COROUTINES

asio_home::library::awaitable<int> twice(int x) {
  asio_home::library::steady_timer timer{co_await asio_home::library::this_coro::executor, 1ms};
  co_await timer.async_wait(asio_home::library::use_awaitable);
  co_return 2 * x;
}

/// 18, or -1 if it went on elsewhere than on `pool`.
asio_home::library::awaitable<int> sum_of_two(executor_pool& pool) {
  const int first = co_await twice(4);
  co_return is_on(pool) ? first + co_await twice(5) : -1;
}

#endif

} // namespace

TEST_CASE("what is posted runs on the pool, and the context waits for it") {
  executor_pool pool{two_executors()};
  std::atomic<int> ran{0};
  std::atomic<int> elsewhere{0};
  {
    asio_home::context context{pool};
    for (int i = 0; i < 1000; ++i)
      asio_home::library::post(context.get_executor(), [&, own = std::make_unique<int>(i)] {
        elsewhere += is_on(pool) ? 0 : 1;
        ran += *own >= 0 ? 1 : 0;
      });
  }
  CHECK(ran == 1000);
  CHECK(elsewhere == 0);
}

TEST_CASE("what a handler posts is waited for, too") {
  executor_pool pool{two_executors()};
  std::atomic<int> ran{0};
  {
    asio_home::context context{pool};
    const auto executor = context.get_executor();
    asio_home::library::post(executor, [&ran, executor] {
      for (int i = 0; i < 100; ++i)
        asio_home::library::post(executor, [&ran] { ++ran; });
    });
  }
  CHECK(ran == 100);
}

TEST_CASE("a strand's handlers run one at a time and in their order") {
  executor_pool pool{two_executors()};
  std::vector<int> seen; // without a lock: the strand is one
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  {
    asio_home::context context{pool};
    const auto strand = asio_home::library::make_strand(context.get_executor());
    for (int i = 0; i < 1000; ++i)
      asio_home::library::post(strand, [&, i] {
        if (inside.fetch_add(1) != 0)
          overlapped = true;
        seen.push_back(i);
        inside.fetch_sub(1);
      });
  }
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(seen == expected);
  CHECK_FALSE(overlapped);
}

#ifdef BASAL_ASIO_COROUTINES

TEST_CASE("coroutines go on on the pool, after a timer, too") {
  executor_pool pool{two_executors()};
  asio_home::context context{pool};
  auto sum = asio_home::library::co_spawn(context.get_executor(), sum_of_two(pool),
                                          asio_home::library::use_future);
  CHECK(sum.get() == 18);
}

#endif

TEST_CASE("a pool that has stopped destroys what is posted") {
  executor_pool pool{two_executors()};
  pool.stop(stop_mode::drain);
  const auto held = std::make_shared<int>(1);
  asio_home::context context{pool};
  asio_home::library::post(context.get_executor(), [held] { FAIL("it ran"); });
  CHECK(held.use_count() == 1);
}

TEST_CASE("what a pool discards is destroyed, and not waited for") {
  executor_pool pool{stepped(2)}; // nobody steps it
  const auto held = std::make_shared<int>(1);
  asio_home::context context{pool};
  asio_home::library::post(context.get_executor(), [held] { FAIL("it ran"); });
  CHECK(held.use_count() == 2);
  pool.stop(stop_mode::discard);
  CHECK(held.use_count() == 1);
}
