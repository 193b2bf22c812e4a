// A push and a pop of a priority queue that holds 1000 values: the hold model (Jones, "An empirical
// comparison of priority-queue and event-set implementations", CACM 29(4), 1986). Each thread takes
// a value and puts it back with a later key, as tasks are: submitted at about now, with estimates
// of up to 20 ms.
//
// Peers: std::priority_queue behind a std::mutex, and tbb::concurrent_priority_queue; both with the
// key beside the pointer, without order among equal keys. The MultiQueue of Williams, Sanders and
// Dementiev is left out: Debian has no package of it.

#include "bench/support/bench.hpp"

#include <basal/priority/config.hpp>
#include <basal/priority/priority_queue.hpp>

#include <tbb/concurrent_priority_queue.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

using namespace basal;

namespace {

constexpr std::uint64_t depth = 1000;

/// A cache line each, as tasks on the heap have.
struct alignas(64) task {
  double key;
  std::uint64_t value;
};

struct entry {
  double key;
  task* what;

  friend bool operator<(const entry& a, const entry& b) {
    return a.key > b.key; // the least first
  }
};

class mutex_queue {
public:
  explicit mutex_queue(std::size_t) {
  }

  void push(task* t, std::size_t) {
    std::lock_guard guard{mutex_};
    entries_.push({t->key, t});
  }

  task* pop(std::size_t) {
    std::lock_guard guard{mutex_};
    if (entries_.empty())
      return nullptr;
    auto* first = entries_.top().what;
    entries_.pop();
    return first;
  }

private:
  std::mutex mutex_;
  std::priority_queue<entry> entries_;
};

class tbb_queue {
public:
  explicit tbb_queue(std::size_t) {
  }

  void push(task* t, std::size_t) {
    entries_.push({t->key, t});
  }

  task* pop(std::size_t) {
    entry first{};
    return entries_.try_pop(first) ? first.what : nullptr;
  }

private:
  tbb::concurrent_priority_queue<entry> entries_;
};

template <bool Strict>
class basal_queue {
public:
  explicit basal_queue(std::size_t threads)
    : queue_{{.capacity = 2 * depth,
              .parts = Strict ? 1 : threads,
              .slack = priority::background_config{}.slack}} {
    for (std::size_t i = 0; i < threads; ++i)
      consumers_.push_back({{queue_, i}});
  }

  void push(task* t, std::size_t thread) {
    if (!queue_.try_push(t->key, t, thread))
      throw std::logic_error("the queue is full");
  }

  task* pop(std::size_t thread) {
    return queue_.try_pop(consumers_[thread].is).value_or(nullptr);
  }

private:
  using queue_type = priority::priority_queue<task*>;

  struct alignas(64) padded {
    queue_type::consumer is;
  };

  queue_type queue_;
  std::vector<padded> consumers_;
};

/// Later by up to 0.02 levels: 200 ms of waiting or 20 ms of estimated runtime.
double later(double key, std::uint64_t& random) {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return key + static_cast<double>(random >> 40) * (0.02 / (1 << 24));
}

/// @returns the sum of the values that were taken
template <class Queue>
std::uint64_t hold(Queue& queue, std::size_t thread, int times, std::uint64_t& random) {
  std::uint64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    auto* first = queue.pop(thread);
    if (first == nullptr)
      return 0;
    sum += first->value;
    first->key = later(first->key, random);
    queue.push(first, thread);
  }
  return sum;
}

template <class Queue>
void hold_case(benchmark::State& state, std::size_t threads, int times) {
  Queue queue{threads};
  std::vector<std::uint64_t> random(16 * threads); // one a cache line or two
  for (std::size_t t = 0; t < threads; ++t)
    random[16 * t] = 88172645463325252u + t;
  std::vector<task> tasks(depth);
  for (std::uint64_t i = 0; i < depth; ++i) {
    tasks[i] = {later(5, random[0]), 1};
    queue.push(&tasks[i], i % threads);
  }
  // The other threads wait at the barrier between iterations.
  std::barrier gate{static_cast<std::ptrdiff_t>(threads)};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<bool> end{false};
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t)
    others.emplace_back([&, t] {
      for (;;) {
        gate.arrive_and_wait();
        if (end)
          return;
        sum += hold(queue, t, times, random[16 * t]);
        gate.arrive_and_wait();
      }
    });
  bench::check(state, static_cast<std::uint64_t>(times) * threads, [&] {
    sum = 0;
    if (threads > 1)
      gate.arrive_and_wait();
    sum += hold(queue, 0, times, random[0]);
    if (threads > 1)
      gate.arrive_and_wait();
    return sum.load();
  });
  end = true;
  if (threads > 1)
    gate.arrive_and_wait();
  for (auto& t : others)
    t.join();
  std::uint64_t left = 0;
  while (queue.pop(0) != nullptr)
    ++left;
  if (left != depth)
    state.SkipWithError("values got lost");
}

const bench::suite push_pop_suite{[](bench::plan& plan) {
  constexpr int times = 20'000;
  auto name
    = [](const char* impl, int threads) { return bench::case_name("hold", depth, impl, threads); };
  for (const int threads : {1, 2}) {
    const auto count = static_cast<std::size_t>(threads);
    const bench::case_options compared{.baseline = name("basal", threads)};
    plan.add(
      name("basal", threads),
      [=](benchmark::State& s) { hold_case<basal_queue<false>>(s, count, times); }, compared);
    plan.add(
      name("basal_strict", threads),
      [=](benchmark::State& s) { hold_case<basal_queue<true>>(s, count, times); }, compared);
    plan.add(
      name("mutex", threads), [=](benchmark::State& s) { hold_case<mutex_queue>(s, count, times); },
      compared);
    plan.add(
      name("tbb", threads), [=](benchmark::State& s) { hold_case<tbb_queue>(s, count, times); },
      compared);
  }
  plan.figure("push_pop_ns", bench::ns_per_item(name("basal", 1), times));
  plan.figure("push_pop_ns_2", bench::ns_per_item(name("basal", 2), 2.0 * times));
  plan.figure("vs_mutex", bench::ratio(name("mutex", 1), name("basal", 1)));
  plan.figure("vs_mutex_2", bench::ratio(name("mutex", 2), name("basal", 2)));
  plan.figure("vs_tbb", bench::ratio(name("tbb", 2), name("basal", 2)));
  plan.figure("strict_vs_tbb", bench::ratio(name("tbb", 2), name("basal_strict", 2)));
}};

} // namespace
