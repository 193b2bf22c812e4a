// Charges for a computation's memory in the heap: to the account in force at the fork, wherever the
// branch runs.

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/posse/gc/gc.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

using namespace basal;
using namespace basal::posse;

namespace {

struct list_node {
  long value;
  gc::ptr<list_node> next;
};

gc::ptr<list_node> make_list(long length) {
  gc::ptr<list_node> first;
  for (long i = 0; i < length; ++i)
    first = gc::make<list_node>(i, first);
  return first;
}

std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccd;
  x ^= x >> 33;
  return x;
}

constexpr std::size_t accounts = 16;

/// Actions of the nodes of the random tree `seed`: number 1 is the root, the children of n are 2n
/// and 2n + 1.
struct plan {
  std::uint64_t seed;
  int depth;

  long objects(std::uint64_t n) const {
    return static_cast<long>(scramble(seed + n) % 7);
  }

  /// The account in force below `n`, if `n` opens a scope: one node in three does.
  std::optional<std::size_t> scope(std::uint64_t n) const {
    auto h = scramble(seed * 31 + n);
    return h % 3 == 0 ? std::optional<std::size_t>{h / 3 % accounts} : std::nullopt;
  }
};

/// Charges to each account in a sequential program.
void expect(const plan& p, std::uint64_t n, int depth, std::size_t in_force,
            std::array<std::size_t, accounts>& bytes) {
  in_force = p.scope(n).value_or(in_force);
  bytes[in_force] += static_cast<std::size_t>(p.objects(n)) * sizeof(list_node);
  if (depth == 0)
    return;
  expect(p, 2 * n, depth - 1, in_force, bytes);
  expect(p, 2 * n + 1, depth - 1, in_force, bytes);
  bytes[in_force] += static_cast<std::size_t>(p.objects(~n)) * sizeof(list_node);
}

/// Scopes are opened beside the fork and inside of its branches, so that some
/// are open at a theft that were not at the fork.
template <class Work>
void visit(member& m, const plan& p, std::uint64_t n, int depth,
           std::array<gc::account, accounts>& charged, const Work& work) {
  std::optional<gc::charge_scope> scope;
  if (auto s = p.scope(n))
    scope.emplace(charged[*s]);
  make_list(p.objects(n));
  if (depth == 0) {
    work(m);
    return;
  }
  m.fork_merge([&](member& k) { visit(k, p, 2 * n, depth - 1, charged, work); },
               [&](member& k) { visit(k, p, 2 * n + 1, depth - 1, charged, work); });
  make_list(p.objects(~n)); // charged as before the fork
}

/// @returns whether every account was charged as in a sequential program
bool charges_like_the_sequential_program(runtime& rt, const plan& p, auto work) {
  std::array<std::size_t, accounts> expected{};
  expect(p, 1, p.depth, 0, expected);
  std::array<gc::account, accounts> charged;
  {
    gc::charge_scope all{charged[0]};
    rt.run([&](member& m) { visit(m, p, 1, p.depth, charged, work); });
  }
  for (std::size_t i = 0; i < accounts; ++i)
    if (charged[i].bytes() != expected[i])
      return false;
  return true;
}

constexpr victim_policy policies[] = {victim_policy::run_victim, victim_policy::suspend_victim};

std::uint64_t time_now = 0;

void pass(std::chrono::nanoseconds time) {
  time_now += executors::tick_clock::to_ticks(time);
}

/// Runs a function on one of the runtime's executors.
struct started {
  std::function<void()> body;

  static const executors::work_ops ops;
};

constexpr executors::work_ops started::ops{
  [](void* object, executors::executor&) noexcept { static_cast<started*>(object)->body(); },
  nullptr,
};

} // namespace

TEST_CASE("stolen branches are charged to the account in force at their fork: stepped") {
  using namespace std::chrono_literals;
  std::uint64_t thefts = 0;
  for (auto policy : policies)
    for (std::size_t executors : {2, 3, 4})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        time_now = executors::tick_clock::to_ticks(1s);
        runtime_config config;
        config.compute_executors = executors;
        config.victims = policy;
        config.simulate
          = {.ticks = []() noexcept { return time_now; }, .seed = seed, .stepped = true};
        runtime rt{config};
        rt.compute().run_until_idle(); // only a sleeper can be given work
        started s{[&] {
          auto leaf = [](member& m) {
            pass(50us);
            m.poll();
          };
          CHECK(charges_like_the_sequential_program(rt, {seed, 8}, leaf));
        }};
        REQUIRE(rt.compute().submit({&s, &started::ops}));
        rt.compute().run_until_idle();
        thefts += rt.stats().thefts;
      }
  CHECK(thefts > 500);
}

TEST_CASE("stolen branches are charged to the account in force at their fork: threads") {
  for (auto policy : policies) {
    runtime_config config;
    config.compute_executors = 6; // while three threads call, as many stay idle
    config.quantum = runtime_config::min_quantum;
    config.victims = policy;
    runtime rt{config};
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers; // no executors: what they call inherits their scopes
    for (std::uint64_t t = 0; t < 3; ++t)
      callers.emplace_back([&, t] {
        auto leaf = [](member& m) {
          for (int i = 0; i < 2000; ++i)
            m.poll();
        };
        for (std::uint64_t i = 0; i < 5 || rt.stats().thefts == 0; ++i)
          wrong += !charges_like_the_sequential_program(rt, {100 * t + i, 8}, leaf);
      });
    for (auto& c : callers)
      c.join();
    CHECK(wrong == 0);
  }
}

#ifndef __SANITIZE_THREAD__ // nothing is collected there
TEST_CASE("whoever takes too much fails, with the limit of the scope around the fork") {
  // The delegate alone exceeds it, and on one executor the right branch does.
  for (std::size_t executors : {1, 3}) {
    runtime rt{{.compute_executors = executors, .quantum = runtime_config::min_quantum}};
    gc::collect();
    auto base = gc::stats().used_bytes;
    auto call = [&](long length) {
      gc::account limited{base + (16u << 20)};
      gc::charge_scope scope{limited};
      return rt.run([&](member& m) {
        auto before = rt.stats().thefts;
        auto [a, b] = m.fork_merge(
          [&](member& k) {
            for (int i = 0; i < 100'000 || (executors > 1 && rt.stats().thefts == before); ++i)
              k.poll();
            return 1;
          },
          [&](member&) { return make_list(length) ? 2 : 0; });
        return a + b;
      });
    };
    CHECK(call(10'000) == 3);
    CHECK_THROWS_AS(call(2'000'000), gc::limit_exceeded);
    CHECK(call(10'000) == 3);
  }
}

TEST_CASE("one computation's limit is not another's") {
  runtime rt{{.compute_executors = 2, .quantum = runtime_config::min_quantum}};
  gc::collect();
  auto base = gc::stats().used_bytes;
  std::atomic<bool> greedy_failed{false};
  std::atomic<bool> modest_failed{false};
  auto call = [&](std::size_t limit, std::atomic<bool>& failed, auto body) {
    gc::account limited{base + limit};
    gc::charge_scope scope{limited};
    try {
      rt.run(body);
    } catch (const gc::limit_exceeded&) {
      failed = true;
    }
  };
  // Makes garbage beyond its limit until the other has failed: that is collected.
  std::thread modest{[&] {
    call(128 << 20, modest_failed, [&](member& m) {
      for (int i = 0; i < 500 || !greedy_failed; ++i) {
        make_list(10'000); // 320 KB
        m.poll();
      }
    });
  }};
  call(16 << 20, greedy_failed, [](member& m) {
    for (gc::ptr<list_node> kept;;) {
      kept = gc::make<list_node>(1, kept);
      m.poll();
    }
  });
  modest.join();
  CHECK(greedy_failed);
  CHECK(!modest_failed);
}
#endif
