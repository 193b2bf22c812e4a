// The scratch pool: one lease and its end. Peers: the system's allocator, and a free list under a
// mutex, which is what one would write without thinking twice.

#include "bench/support/bench.hpp"

#include <basal/solver/detail/scratch_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

using namespace basal;

namespace {

constexpr std::uint64_t pairs = 10'000;
constexpr std::size_t bytes = 64 * 1024; // of a solve with some 1000 unknowns

/// Runs `pair`, which returns an address, and counts those that are there.
template <class Pair>
void measure(benchmark::State& state, Pair pair) {
  // In a process with a single thread the C library leaves its locks out.
  std::latch measured{1};
  std::thread second{[&] { measured.wait(); }};
  bench::check(state, pairs, [&] {
    std::uint64_t there = 0;
    for (std::uint64_t i = 0; i < bench::opaque(pairs); ++i)
      there += pair() != nullptr ? 1 : 0;
    return there;
  });
  measured.count_down();
  second.join();
}

const bench::suite pool_suite{[](bench::plan& plan) {
  const auto ours = bench::case_name("pool", bytes, "basal", 1);
  plan.add(ours,
           [](benchmark::State& state) {
             solver::scratch_pool pool{1 << 20};
             measure(state, [&] {
               auto lease = pool.acquire(bench::opaque(bytes));
               auto* memory = lease ? lease->bytes().data() : nullptr;
               asm volatile("" : : "r"(memory) : "memory");
               return memory;
             });
           },
           {.baseline = ours});
  plan.add(bench::case_name("pool", bytes, "malloc", 1),
           [](benchmark::State& state) {
             measure(state, [] {
               auto* memory = std::malloc(bench::opaque(bytes));
               asm volatile("" : : "r"(memory) : "memory");
               const char* there = memory == nullptr ? nullptr : "";
               std::free(memory);
               return there;
             });
           },
           {.baseline = ours});
  plan.add(bench::case_name("pool", bytes, "mutex-list", 1),
           [](benchmark::State& state) {
             std::mutex mutex;
             std::vector<void*> idle;
             std::vector<std::byte> block(bytes);
             idle.push_back(block.data());
             measure(state, [&] {
               void* memory = nullptr;
               {
                 std::lock_guard guard{mutex};
                 memory = idle.back();
                 idle.pop_back();
               }
               asm volatile("" : : "r"(memory) : "memory");
               std::lock_guard guard{mutex};
               idle.push_back(memory);
               return memory;
             });
           },
           {.baseline = ours});
  plan.figure("pool_ns", bench::ns_per_item(ours, static_cast<double>(pairs)));
}};

} // namespace
