// The union of two maps of a million random entries each, as a third map; both
// arguments stay as they are.
//
// Peers: std::map, copied and merged ("std_copy_merge": what keeping the
// arguments costs) and built from both in order ("std_linear": the best one can
// do with it); a persistent map by the same algorithm whose nodes are counted
// ("counted"). Libraries of persistent maps that Debian has (immer) hash.
//
// An iteration makes four unions and reports one's share, so that each pays for
// collections alike. At one executor the process has one CPU: else the collector,
// which uses all that there are, would run on two.

#include "bench/posse/ord_map_counted.hpp"
#include "bench/support/bench.hpp"

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>
#include <basal/posse/posse.hpp>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace basal;

using entries = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
using std_map = std::map<std::uint64_t, std::uint64_t>;
using counted_map = bench::counted_map<std::uint64_t, std::uint64_t>;
using gc_map = posse::ord_map<std::uint64_t, std::uint64_t>;

/// Strictly ascending, of keys below 2^40: few are in both.
entries random_entries(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std_map sorted;
  while (sorted.size() < count)
    sorted.emplace(random() >> 24, random());
  return {sorted.begin(), sorted.end()};
}

struct input {
  explicit input(std::size_t count) : a(random_entries(count, 1)), b(random_entries(count, 2)) {
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
                   [](auto& x, auto& y) { return x.first < y.first; });
  }
  entries a, b, both;
};

/// Shared by all cases, made when the first of them runs.
const input& input_of(std::size_t count) {
  static const input shared{count};
  return shared;
}

std_map merged(const std_map& a, const std_map& b) {
  auto result = a;
  auto rest = b;
  result.merge(rest);
  return result;
}

std_map linear(const std_map& a, const std_map& b) {
  std_map result;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (j->first < i->first) {
      result.emplace_hint(result.end(), *j++);
    } else {
      if (!(i->first < j->first))
        ++j;
      result.emplace_hint(result.end(), *i++);
    }
  }
  for (; i != a.end(); ++i)
    result.emplace_hint(result.end(), *i);
  for (; j != b.end(); ++j)
    result.emplace_hint(result.end(), *j);
  return result;
}

/// While it lives, all threads of the process, those yet to come included, share
/// its first CPU.
class one_cpu {
public:
  explicit one_cpu(bool wanted) : wanted_(wanted) {
    if (!wanted_)
      return;
    sched_getaffinity(0, sizeof before_, &before_);
    auto cpu = 0;
    while (!CPU_ISSET(cpu, &before_))
      ++cpu;
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    move_all_to(first);
  }
  ~one_cpu() {
    if (wanted_)
      move_all_to(before_);
  }
  one_cpu(const one_cpu&) = delete;
  one_cpu& operator=(const one_cpu&) = delete;

private:
  static void move_all_to(const cpu_set_t& cpus) {
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"})
      sched_setaffinity(std::stoi(task.path().filename()), sizeof cpus, &cpus);
  }

  bool wanted_;
  cpu_set_t before_;
};

/// Four unions an iteration, each of which must have `expected` entries.
template <class Unite>
void measure(benchmark::State& state, std::size_t expected, const Unite& unite) {
  constexpr int unions = 4;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < unions; ++i)
      if (unite().size() != expected) {
        state.SkipWithError("wrong answer");
        return;
      }
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count() / unions);
  }
}

/// The whole answer, once; the timing loop looks at the size.
void require(bool right) {
  if (!right)
    throw std::runtime_error("wrong union");
}

template <class Map>
bool holds(const Map& m, const entries& expected) {
  entries found;
  m.for_each([&](std::uint64_t k, std::uint64_t v) { found.emplace_back(k, v); });
  return found == expected;
}

const bench::suite ord_map_suite{[](bench::plan& plan) {
  const std::size_t count = plan.quick() ? 100'000 : 1'000'000;
  const auto baseline = bench::case_name("union", count, "std_linear", 1);
  auto add_std = [&](const char* impl, auto unite) {
    plan.add(bench::case_name("union", count, impl, 1),
             [=](benchmark::State& state) {
               const auto& in = input_of(count);
               std_map a(in.a.begin(), in.a.end());
               std_map b(in.b.begin(), in.b.end());
               auto result = unite(a, b);
               require(entries(result.begin(), result.end()) == in.both);
               measure(state, in.both.size(), [&] { return unite(a, b); });
             },
             {.baseline = baseline, .manual_time = true});
  };
  add_std("std_copy_merge", merged);
  add_std("std_linear", linear);
  plan.add(bench::case_name("union", count, "counted", 1),
           [=](benchmark::State& state) {
             const auto& in = input_of(count);
             auto a = counted_map::from_sorted(in.a);
             auto b = counted_map::from_sorted(in.b);
             require(holds(set_union(a, b), in.both));
             measure(state, in.both.size(), [&] { return set_union(a, b); });
           },
           {.baseline = baseline, .manual_time = true});
  plan.add(bench::case_name("union", count, "basal_sequential", 1),
           [=](benchmark::State& state) {
             const auto& in = input_of(count);
             const one_cpu pinned{true};
             auto a = gc_map::from_sorted(in.a);
             auto b = gc_map::from_sorted(in.b);
             require(holds(set_union(a, b), in.both));
             measure(state, in.both.size(), [&] { return set_union(a, b); });
           },
           {.baseline = baseline, .manual_time = true});
  for (int threads : {1, 2})
    plan.add(bench::case_name("union", count, "basal", threads),
             [=](benchmark::State& state) {
               const auto& in = input_of(count);
               const one_cpu pinned{threads == 1};
               posse::runtime runtime{{.compute_executors = static_cast<std::size_t>(threads)}};
               auto a = gc_map::from_sorted(in.a);
               auto b = gc_map::from_sorted(in.b);
               auto unite = [&] {
                 return runtime.run([&](posse::member& m) { return set_union(m, a, b); });
               };
               require(holds(unite(), in.both));
               measure(state, in.both.size(), unite);
             },
             {.baseline = baseline, .manual_time = true});
  auto ours = [=](int threads) { return bench::case_name("union", count, "basal", threads); };
  plan.figure("ordmap_union_speedup_2", bench::ratio(ours(1), ours(2)));
  plan.figure("ordmap_union_vs_std", bench::ratio(baseline, ours(2)));
  plan.figure("ordmap_union_vs_counted",
              bench::ratio(bench::case_name("union", count, "counted", 1), ours(2)));
}};

} // namespace
