// The shared heap: what it costs to make an object, a handle, a fiber switch, and
// how long collections stop the others.
//
// Peers: new and delete, and std::make_shared, which frees by counting: both pay
// for the end of an object, where the heap pays in collections; these are in the
// time. An iteration makes a thousand objects in a list and drops it.

#include "bench/support/bench.hpp"

#include <basal/executors/executor.hpp>
#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>
#include <basal/posse/posse.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace basal;
namespace gc = posse::gc;

constexpr long objects = 1000;
constexpr long expected_sum = objects * (objects - 1) / 2;

template <class Pointer>
long sum_of(const Pointer& first) {
  long sum = 0;
  for (auto* n = &*first; n != nullptr; n = n->next ? &*n->next : nullptr)
    sum += n->payload[0];
  return sum;
}

struct gc_node {
  gc_node(gc::ptr<gc_node> n, long i) : next(n), payload{i} {
  }
  gc::ptr<gc_node> next;
  long payload[4]; // 40 bytes in all
};

long gc_list() {
  gc::ptr<gc_node> first;
  for (long i = 0; i < objects; ++i)
    first = gc::make<gc_node>(first, i);
  return sum_of(first);
}

struct plain_node {
  plain_node* next;
  long payload[4];
};

long new_list() {
  plain_node* first = nullptr;
  for (long i = 0; i < objects; ++i)
    first = new plain_node{first, {i}};
  const long sum = sum_of(first);
  while (first != nullptr)
    delete std::exchange(first, first->next);
  return sum;
}

struct shared_node {
  shared_node(std::shared_ptr<shared_node> n, long i) : next(std::move(n)), payload{i} {
  }
  std::shared_ptr<shared_node> next;
  long payload[4];
};

long shared_list() {
  std::shared_ptr<shared_node> first;
  for (long i = 0; i < objects; ++i)
    first = std::make_shared<shared_node>(std::move(first), i);
  const long sum = sum_of(first);
  while (first) // one by one: recursion would need a deep stack
    first = std::move(first->next);
  return sum;
}

long gc_numbers() {
  long sum = 0;
  for (long i = 0; i < objects; ++i)
    sum += (*gc::make<std::array<long, 5>>(std::array<long, 5>{bench::opaque(i)}))[0];
  return sum;
}

long handles(gc::ptr<gc_node> node) {
  long sum = 0;
  for (long i = 0; i < objects; ++i)
    sum += gc::handle{node}.get()->payload[0];
  return sum;
}

const bench::suite gc_suite{[](bench::plan& plan) {
  auto add = [&](const char* impl, auto work) {
    plan.add(bench::case_name("make", 40, impl, 1),
             [=](benchmark::State& state) { bench::check(state, expected_sum, work); },
             {.baseline = bench::case_name("make", 40, "new_delete", 1)});
  };
  add("gc", gc_list);
  add("gc_pointer_free", gc_numbers);
  add("new_delete", new_list);
  add("make_shared", shared_list);
  plan.figure("gc_make_ns", bench::ns_per_item(bench::case_name("make", 40, "gc", 1), objects));
  plan.figure("gc_make_atomic_ns",
              bench::ns_per_item(bench::case_name("make", 40, "gc_pointer_free", 1), objects));

  const auto handle = bench::case_name("handle", 8, "gc", 1);
  plan.add(handle, [](benchmark::State& state) {
    auto node = gc::make<gc_node>(nullptr, 1L);
    bench::check(state, objects, [&] { return handles(node); });
  });
  plan.figure("gc_handle_ns", bench::ns_per_item(handle, objects));

  // A fiber that is suspended and woken at once: the executor leaves it for
  // another, whose loop resumes it.
  const auto yields = bench::case_name("switch", 1, "basal", 1);
  plan.add(yields, [](benchmark::State& state) {
    posse::runtime runtime{{.compute_executors = 1}};
    gc::enter();
    runtime.run([&](posse::member& m) {
      auto& self = m.executor();
      const auto before = self.stats().suspensions;
      std::uint64_t turns = 0;
      for (auto _ : state) {
        turns += self.suspend([](executors::fiber& f) noexcept { executors::executor::wake(f); });
      }
      if (self.stats().suspensions - before != turns)
        state.SkipWithError("it did not switch");
    });
  });
  plan.figure("gc_switch_ns", bench::ns_per_item(yields, 2));

  // The time of a collection while the others stand still, by live data.
  const bool quick = plan.quick();
  auto pause_ms = [](const auto& live) {
    std::vector<double> pauses;
    for (int i = 0; i < 7; ++i) {
      gc::collect();
      pauses.push_back(std::chrono::duration<double, std::milli>(gc::stats().last_pause).count());
    }
    asm volatile("" : : "g"(&live) : "memory"); // alive until here
    std::ranges::nth_element(pauses, pauses.begin() + 3);
    return pauses[3];
  };
  plan.measure("gc_pause_ms_empty", [=] { return pause_ms(0); });
  plan.measure("gc_pause_ms_100mb_nodes", [=] {
    // Entries of 48 bytes: an eighth of it if it must be quick, the same per byte.
    const std::size_t count = (quick ? 12'500'000u : 100'000'000u) / 48;
    std::vector<std::pair<long, long>> entries(count);
    for (std::size_t i = 0; i < count; ++i)
      entries[i] = {static_cast<long>(i), 1};
    auto live = posse::ord_map<long, long>::from_sorted(entries);
    return pause_ms(live) * (quick ? 8 : 1);
  });
  plan.measure("gc_pause_ms_500mb_numbers", [=] {
    const std::size_t count = (quick ? 62'500'000u : 500'000'000u) / sizeof(double);
    auto live
      = gc::vector<double>::generate(count, [](std::size_t i) { return static_cast<double>(i); });
    return pause_ms(live);
  });
}};

} // namespace
