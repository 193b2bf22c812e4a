// Collections forced at safepoints of computations that are stolen from: what
// victims, delegates, and results on their way hold must survive.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/gc/detail/faults.hpp>
#include <basal/posse/ord_map.hpp>
#include <basal/posse/posse.hpp>

#include "gc_canaries.hpp"
#include "support/catch.hpp"

#define GC_NO_THREAD_REDIRECTS // the heap registers its threads itself
#include <gc/gc.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace basal::posse;

namespace {

void spin(std::chrono::microseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct result {
  const canaries::node* list = nullptr;
  std::uint64_t lost = 0;
};

constexpr std::uint64_t length = 20;

/// Each call holds a list while its branches run, in its frame and in what its
/// branches capture, and returns a new one that nothing else points to.
result tree(member& m, std::uint64_t id, int depth, std::uint64_t collect_every,
            const canaries::patience& patience) {
  const auto* mine = canaries::make(id, length);
  result sum;
  if (depth == 0) {
    spin(std::chrono::microseconds{20});
    if (id % collect_every == 0 && !patience.is_over())
      gc::collect();
    m.poll();
  } else {
    // The branches own what they capture; one of them may be moved from.
    const auto* lent = canaries::make(id ^ 0x5555, length);
    auto [a, b] = m.fork_merge(
      [=, &patience](member& k) { return tree(k, 2 * id, depth - 1, collect_every, patience); },
      [=, &patience](member& k) {
        auto r = tree(k, 2 * id + 1, depth - 1, collect_every, patience);
        r.lost += canaries::lost(lent, id ^ 0x5555, length);
        return r;
      });
    sum.lost = a.lost + b.lost + canaries::lost(a.list, 4 * id, length)
               + canaries::lost(b.list, 4 * id + 2, length);
  }
  sum.lost += canaries::lost(mine, id, length);
  sum.list = canaries::make(2 * id, length);
  return sum;
}

constexpr pure<tree> pure_tree{"gc_tree"};

/// A list, and whether the collector took it, which overwrites it only some time later: a block
/// most of whose objects are in use is not swept.
class watched_list {
public:
  const canaries::node* make(std::uint64_t list) {
    const auto* first = canaries::make(list, nodes);
    watch(first);
    return first;
  }
  ~watched_list() {
    GC_unregister_disappearing_link(&link_);
  }

  /// @returns how many of its objects are not there any more
  std::uint64_t lost(const canaries::node* first, std::uint64_t list) const {
    return link_ == nullptr ? nodes : canaries::lost(first, list, nodes);
  }

  static constexpr std::uint64_t nodes = 1000;

private:
  /// Leaves its copies of the pointer where the stack of an idle executor does not reach: that one
  /// has some frames, and the handler of the signal by which the collector stops it.
  [[gnu::noinline]] void watch(const canaries::node* first) {
    [[maybe_unused]] volatile char unused[16'384];
    unused[0] = 0;
    link_ = reinterpret_cast<void*>(GC_HIDE_POINTER(first));
    if (const int error = GC_general_register_disappearing_link(&link_, first); error != GC_SUCCESS)
      throw std::runtime_error("the collector watches no object: error " + std::to_string(error));
  }

  void* link_ = nullptr; ///< hidden; null once the collector has taken the list
};

/// Delegates that end long before their victims take the results.
/// @param merges how many there will have been when all have ended
/// @returns how much of the results is lost
std::uint64_t early_results(member& m, runtime& rt, std::span<watched_list> results,
                            std::uint64_t merges) {
  if (results.empty()) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    while (rt.stats().merges < merges && std::chrono::steady_clock::now() < end)
      m.poll();
    for (int i = 0; i < 3; ++i) {
      gc::collect();
      canaries::litter(20'000);
    }
    return rt.stats().merges == merges ? 0 : 1'000'000; // one was not stolen
  }
  auto [lost, list]
    = m.fork_merge([&](member& k) { return early_results(k, rt, results.subspan(1), merges); },
                   [&](member&) { return results.front().make(results.size()); });
  return lost + results.front().lost(list, results.size());
}

/// Of several: a copy of one on the thief's stack, where the collector finds it, lasts until the
/// next one is made.
std::uint64_t early_results(runtime& rt) {
  std::array<watched_list, 8> results;
  return rt.run(
    [&](member& m) { return early_results(m, rt, results, rt.stats().merges + results.size()); });
}

runtime_config impatient(std::size_t executors) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  return config;
}

} // namespace

TEST_CASE("no object of a victim, a delegate or a result is lost") {
  std::uint64_t thefts = 0;
  std::uint64_t waits = 0;
  const auto rounds = canaries::amount("BASAL_GC_ROUNDS", 3);
  const auto before = gc::stats().collections;
  const canaries::patience patience{"BASAL_GC_ROUNDS"};
  for (std::size_t executors = 1; executors <= 4; ++executors) {
    runtime rt{impatient(executors)};
    std::atomic<std::uint64_t> lost{0};
    std::vector<std::thread> callers;
    for (std::uint64_t t = 0; t < 2; ++t)
      callers.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
          auto r = pure_tree(rt, 1, 8, 3 + (i + t) % 5, patience);
          canaries::litter(1000);
          lost += r.lost + canaries::lost(r.list, 2, length);
        }
      });
    for (auto& c : callers)
      c.join();
    INFO("executors " << executors);
    CHECK(lost == 0);
    thefts += rt.stats().thefts;
    waits += rt.stats().merge_waits;
  }
  const auto collections = gc::stats().collections - before;
  INFO("thefts " << thefts << ", merge waits " << waits << ", collections " << collections);
  CHECK(thefts > 0);
  CHECK(waits > 0);
  CHECK((collections > 0) == canaries::collects);
}

TEST_CASE("a victim that waits for seconds keeps what it holds") {
  const auto seconds = canaries::amount("BASAL_GC_SECONDS", 0);
  const auto time = std::chrono::milliseconds{1000 * seconds + 300};
  runtime rt{impatient(2)};
  std::atomic<bool> begun{false};
  auto lost = rt.run([&](member& m) {
    const auto* held = canaries::make(77, 1000);
    auto [a, b] = m.fork_merge(
      [&](member& k) { // until a thief runs the right branch: until then it could be taken back
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{5};
        while (!begun && std::chrono::steady_clock::now() < limit)
          k.poll();
        return canaries::make(78, 1000);
      },
      [&](member& k) { // from when the victim waits
        begun = true;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{5};
        while (rt.stats().merge_waits == 0 && std::chrono::steady_clock::now() < limit)
          k.poll();
        const auto end = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < end) {
          gc::collect();
          canaries::litter(5000);
          k.poll();
        }
        return canaries::make(79, 1000);
      });
    gc::collect();
    canaries::litter(5000);
    return canaries::lost(held, 77, 1000) + canaries::lost(a, 78, 1000)
           + canaries::lost(b, 79, 1000);
  });
  CHECK(lost == 0);
  CHECK(rt.stats().merge_waits == 1);
}

TEST_CASE("a result that waits for its merge is kept") {
  runtime rt{impatient(2)};
  for (int i = 0; i < 4; ++i)
    REQUIRE(early_results(rt) == 0);
}

TEST_CASE("a stolen branch may return what is aligned to a cache line") {
  struct alignas(64) line {
    const canaries::node* list;
  };
  runtime rt{impatient(2)};
  auto lost = rt.run([&](member& m) {
    auto [a, b] = m.fork_merge(
      [&](member& k) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{5};
        while (rt.stats().merges == 0 && std::chrono::steady_clock::now() < end)
          k.poll();
        gc::collect();
        canaries::litter(20'000);
        return line{canaries::make(81, 10)};
      },
      [](member&) {
        line result{canaries::make(82, 10)};
        if (reinterpret_cast<std::uintptr_t>(&result) % 64 != 0)
          result.list = nullptr;
        return result;
      });
    return canaries::lost(a.list, 81, 10) + canaries::lost(b.list, 82, 10);
  });
  CHECK(lost == 0);
  CHECK(rt.stats().merges == 1);
}

TEST_CASE("tasks that wait in a group keep what they hold") {
  runtime rt{impatient(1)};
  std::uint64_t lost = 0;
  for (std::uint64_t tasks_of_group : {4, 100}) // within the group, and behind it
    task_scope(rt, [&](task_group& tasks) {
      for (std::uint64_t i = 0; i < tasks_of_group; ++i)
        tasks.spawn([&lost, i, list = canaries::make(i, length)] {
          lost += canaries::lost(list, i, length);
        });
      gc::collect();
      canaries::litter(20'000);
    });
  CHECK(lost == 0);
}

#ifndef __SANITIZE_THREAD__ // nothing is collected there
TEST_CASE("where the collector does not look for it, such a result is lost") {
  CHECK(canaries::loses_objects("[hidden-results]"));
}

TEST_CASE("control: results in plain memory", "[.][hidden-results]") {
  gc::detail::faults().hide_results = true;
  runtime rt{impatient(2)};
  std::uint64_t lost = 0;
  for (int i = 0; i < 50 && lost == 0; ++i)
    lost = early_results(rt);
  REQUIRE(lost > 0);
  REQUIRE(lost < 1'000'000);
}
#endif

namespace {

/// A number that shows when it was collected too early and overwritten.
struct number {
  std::uint64_t value;
  std::uint64_t check;

  static const number* make(std::uint64_t value) {
    return gc::make<number>(value, ~value).get();
  }

  bool is(std::uint64_t expected) const {
    return value == expected && check == ~expected;
  }
};

} // namespace

// A thief's sums, and a stable sort's elements while they are moved, lie in
// memory of the algorithm.
TEST_CASE("algorithms over pointers into the heap lose nothing") {
  constexpr std::size_t n = 20'000;
  static std::array<const number*, n> in, out; // globals are scanned
  const canaries::patience patience{"BASAL_GC_ROUNDS"};
  runtime rt{impatient(3)};
  std::atomic<std::uint64_t> applied{0};
  auto collect_at_times = [&] {
    if (applied.fetch_add(1, std::memory_order_relaxed) % 4096 == 0 && !patience.is_over())
      gc::collect();
  };
  std::uint64_t lost = 0;
  const auto rounds = canaries::amount("BASAL_GC_ROUNDS", 40);
  for (std::uint64_t round = 0; round == 0 || (round < rounds && !patience.is_over()); ++round) {
    for (auto& each : in)
      each = number::make(1);
    exclusive_scan(rt, in, out, number::make(0), [&](const number* a, const number* b) {
      collect_at_times();
      return number::make(a->value + b->value);
    });
    canaries::litter(1000);
    for (std::size_t i = 0; i < n; ++i)
      lost += out[i]->is(i) ? 0 : 1;
    stable_sort(rt, out, [&](const number* a, const number* b) {
      collect_at_times();
      return a->value % 64 < b->value % 64;
    });
    canaries::litter(1000);
    for (const auto* each : out)
      lost += each->is(each->value) ? 0 : 1;
  }
  CHECK(lost == 0);
  CHECK(rt.stats().thefts > 0);
}

TEST_CASE("a reduction's values, which are too many for a stack, are found") {
  struct large {
    const number* sum;
    std::array<std::uint64_t, 15> more{};
  };
  runtime rt{impatient(3)};
  const auto all = rt.run([&](member& m) {
    return map_reduce(
             m, 10'000,
             [](int i) {
               if (i % 500 == 0)
                 gc::collect();
               return large{number::make(static_cast<std::uint64_t>(i)), {}};
             },
             large{number::make(0), {}},
             [](const large& a, const large& b) {
               const bool lost = !a.sum->is(a.sum->value) || !b.sum->is(b.sum->value);
               return large{number::make(lost ? 0 : a.sum->value + b.sum->value), {}};
             })
      .sum->value;
  });
  CHECK(all == 9'999u * 10'000u / 2);
}

TEST_CASE("maps built, merged and reduced in parallel survive collections") {
  using map = ord_map<std::uint32_t, std::uint64_t>;
  runtime rt{impatient(3)};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> even, odd;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    even.emplace_back(2 * i, i);
    odd.emplace_back(2 * i + 1, i);
  }
  for (int round = 0; round < 5; ++round) {
    auto sum = rt.run([&](member& m) {
      auto [a, b] = m.fork_merge([&](member& k) { return map::from_sorted(k, even); },
                                 [&](member& k) { return map::from_sorted(k, odd); });
      gc::collect();
      auto both = set_union(m, a, b).map(m, [](std::uint32_t k, std::uint64_t v) {
        if (k % 10'000 == 0)
          gc::collect();
        return v + 1;
      });
      return both.reduce(m, 0, std::plus<>{});
    });
    REQUIRE(sum == 2u * (20'000u * 20'001u / 2));
  }
}
