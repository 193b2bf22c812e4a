// When it pays to wake an executor for work that is not worth a wake-up by itself.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/detail/forgone_work.hpp>

#include "executors/begin_threads.hpp"
#include "support/catch.hpp"

#include <basal/executors/hand_over.hpp>
#include <basal/posse/posse.hpp>

#include <chrono>
#include <cstdint>
#include <ranges>
#include <thread>

using namespace basal;
using namespace std::chrono_literals;
using posse::detail::forgone_work;

namespace {

constexpr std::uint64_t price = 100;

/// Looks, `apart` from each other, that each find `work`.
/// @returns the looks until somebody was to be woken; 0: more than a thousand
int looks_until_woken(forgone_work& forgone, std::uint64_t& now, std::uint64_t apart,
                      std::uint64_t work) {
  for (int looks = 1; looks <= 1000; ++looks) {
    now += apart;
    if (forgone.note(now, work, price))
      return looks;
  }
  return 0;
}

} // namespace

TEST_CASE("once as much was forgone as a wake-up costs it is paid") {
  forgone_work forgone;
  std::uint64_t now = 1'000'000;
  CHECK(looks_until_woken(forgone, now, 50, 25) == 5); // at the first nothing was lost yet
}

TEST_CASE("no more is forgone than the time from one look to the next") {
  forgone_work forgone;
  std::uint64_t now = 1'000'000;
  CHECK(looks_until_woken(forgone, now, 10, 1000) == 11);
}

TEST_CASE("what was forgone long ago is forgotten") {
  forgone_work forgone;
  std::uint64_t now = 1'000'000;
  CHECK(looks_until_woken(forgone, now, forgone_work::worth_remembering * price + 1, 99) == 0);
  CHECK(looks_until_woken(forgone, now, forgone_work::worth_remembering * price, 99) == 2);
}

TEST_CASE("each wake-up that led to no theft makes the next one twice as dear") {
  forgone_work forgone;
  std::uint64_t now = 1'000'000;
  CHECK(looks_until_woken(forgone, now, 50, 50) == 3);
  CHECK(looks_until_woken(forgone, now, 50, 50) == 4);
  CHECK(looks_until_woken(forgone, now, 50, 50) == 8);
  forgone.paid();
  CHECK(looks_until_woken(forgone, now, 50, 50) == 2);
}

TEST_CASE("loops that are too short to wake anybody wake one after a while") {
  posse::runtime_config config;
  config.compute_executors = 2;
  config.costs.asleep_ns = 20'000'000; // no loop is worth that, whoever else had a time slice in it
  posse::runtime runtime{config};
  begin_threads(runtime.compute());
  const auto loop = [&](std::size_t elements) {
    posse::for_each(runtime, std::views::iota(std::size_t{0}, elements), [](std::size_t) {
      const auto end = std::chrono::steady_clock::now() + 1us;
      while (std::chrono::steady_clock::now() < end) {
      }
    });
  };
  const auto body = [&](executors::executor& self) {
    auto& other = runtime.compute().at(1 - self.index());
    loop(50); // from here on it is known what an element costs
    while (runtime.compute().is_looking(other.index()) || other.stats().times_parked == 0)
      std::this_thread::yield();
    const auto before = other.stats().wake_ups;
    for (int loops = 0; other.stats().wake_ups == before; ++loops) {
      if (loops == 200'000)
        FAIL("nobody was woken");
      loop(50);
    }
  };
  executors::awaited_call call{body};
  runtime.await(call);
  call.take();
}
