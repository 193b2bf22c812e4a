// Random fork trees under both victim policies, with every theft written down:
// the results are those of the sequential program, and each theft is one that the
// rules allow.

#include <basal/posse/posse.hpp>

#include "rounds.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

using namespace basal::posse;

namespace {

constexpr std::size_t memory_limit = 192 * 1024;

struct failure : std::runtime_error {
  explicit failure(std::uint64_t at) : std::runtime_error("node failed"), node(at) {
  }
  std::uint64_t node;
};

constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}

/// Actions of a tree's nodes, which follow from its seed.
struct shape {
  std::uint64_t fail_one_in = 0; ///< 0: never
  bool allocates = false;
  bool too_much = false; ///< one leaf in 512 wants more than the limit
};

/// `Visitor` brings fork(), work() and allocate(bytes).
template <class Visitor>
double visit(Visitor& v, std::uint64_t seed, int depth, shape s) {
  auto h = scramble(seed);
  if (s.fail_one_in != 0 && h % s.fail_one_in == 7)
    throw failure{h};
  if (depth == 0 || h % 13 == 0) {
    if (h % 16 == 1)
      v.work();
    if (s.allocates)
      v.allocate(s.too_much && h % 512 == 3 ? memory_limit + 1 : h % 4096);
    return 1.0 / static_cast<double>(h % 1000 + 1); // any other order of additions shows
  }
  // Skewed trees, too: one branch in four is much the smaller one.
  auto right = h % 4 == 0 ? depth / 2 : depth - 1;
  auto call = [&] { return v.fork(h, depth - 1, right, s); };
  if (h % 67 != 5)
    return call();
  try {
    return call();
  } catch (const failure& f) {
    return static_cast<double>(f.node % 1000);
  }
}

struct sequential {
  std::size_t over = 0;
  double fork(std::uint64_t h, int left, int right, shape s) {
    auto a = visit(*this, h + 1, left, s);
    auto b = visit(*this, h * 3 + 2, right, s);
    return a * 0.7 + b;
  }
  void work() {
  }
  void allocate(std::size_t bytes) {
    if (bytes > memory_limit)
      throw memory_limit_exceeded("too much");
  }
};

struct parallel {
  member& m;
  double fork(std::uint64_t h, int left, int right, shape s) {
    auto [a, b] = m.fork_merge(
      [=](member& k) {
        parallel v{k};
        return visit(v, h + 1, left, s);
      },
      [=](member& k) {
        parallel v{k};
        return visit(v, h * 3 + 2, right, s);
      });
    return a * 0.7 + b;
  }
  void work() {
    for (int i = 0; i < 4000; ++i)
      m.poll();
  }
  void allocate(std::size_t bytes) {
    std::pmr::vector<char> mine(bytes, 'x', &m.memory());
  }
};

double tree(member& m, std::uint64_t seed, int depth, shape s) {
  parallel v{m};
  return visit(v, seed, depth, s);
}

constexpr pure<tree> pure_tree{"tree"};

/// A result, a failed node, or one of two other ends.
struct outcome {
  double result = 0;
  std::uint64_t failed = 0;
  bool over_limit = false;
  bool was_cancelled = false;

  bool operator==(const outcome&) const = default;
};

outcome outcome_of(auto call) {
  try {
    return {.result = call()};
  } catch (const failure& f) {
    return {.failed = f.node};
  } catch (const memory_limit_exceeded&) {
    return {.over_limit = true};
  } catch (const cancelled&) {
    return {.was_cancelled = true};
  }
}

/// Counts the thefts that break a rule.
struct theft_log {
  std::size_t cabal_limit = 0;
  hysteresis rule = hysteresis::quantum;
  std::atomic<std::uint64_t> thefts{0}, seamless{0}, doubles{0}, not_basal{0}, young{0},
    before_actors{0}, cabal_exceeded{0}, over_memory{0}, to_itself{0};

  static void saw(void* context, const theft_event& e) noexcept {
    auto& self = *static_cast<theft_log*>(context);
    ++self.thefts;
    self.not_basal += e.more_basal != 0;
    self.young += self.rule == hysteresis::quantum && e.age < 2;
    self.cabal_exceeded += e.cabal_size > self.cabal_limit;
    self.over_memory += e.context_bytes > memory_limit;
    if (e.seamless) {
      ++self.seamless;
      self.to_itself += e.from != e.to; // these stay where they are
      return;
    }
    self.before_actors += e.view.work_waits_here && e.view.sibling_idle;
    self.doubles += e.from == e.to;
    self.to_itself += e.from == e.to && e.view.policy == victim_policy::run_victim;
  }
};

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t trees_a_caller = 4;
constexpr std::size_t executors_apart = 3;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t trees_a_caller = 10;
constexpr std::size_t executors_apart = 1;
#else
constexpr std::uint64_t trees_a_caller = 30;
constexpr std::size_t executors_apart = 1;
#endif

} // namespace

TEST_CASE("random trees under all rules: the sequential outcome, and no theft breaks a rule") {
  std::uint64_t thefts = 0, seamless = 0, doubles = 0, cancellations = 0, over_limit = 0;
  std::atomic<std::uint64_t> wrong{0};
  for (std::size_t executors = 1; executors <= 8; executors += executors_apart)
    for (auto [policy, rule] : {std::pair{victim_policy::run_victim, hysteresis::worth},
                                {victim_policy::run_victim, hysteresis::quantum},
                                {victim_policy::suspend_victim, hysteresis::worth},
                                {victim_policy::suspend_victim, hysteresis::quantum}}) {
      theft_log seen;
      seen.rule = rule;
      seen.cabal_limit = 2 + executors % 3;
      runtime_config config;
      config.compute_executors = executors;
      config.quantum = runtime_config::min_quantum;
      config.victims = policy;
      config.steal_by = rule;
      config.cabal_limit = seen.cabal_limit;
      config.thefts = {&theft_log::saw, &seen};
      runtime rt{config};
      auto call = [&](std::uint64_t number) {
        auto seed = (executors << 32) + number * 977;
        shape s{.fail_one_in = number % 3 == 0 ? 3000u : 0u,
                .allocates = number % 2 == 0,
                .too_much = number % 8 == 4};
        auto expected = outcome_of([&] {
          sequential v;
          return visit(v, seed, 14, s);
        });
        call_options options;
        options.memory_limit = s.allocates ? memory_limit : 0;
        std::stop_source source;
        std::jthread stopper;
        if (number % 10 == 9) {
          options.stop = source.get_token();
          stopper = std::jthread{[&, number] {
            std::this_thread::sleep_for(std::chrono::microseconds{number % 7 * 300});
            source.request_stop();
          }};
        }
        auto found = outcome_of([&] {
          return number % 5 == 0 ? pure_tree.with(options).offload(rt, seed, 14, s)
                                 : pure_tree.with(options)(rt, seed, 14, s);
        });
        if (!(found.was_cancelled && options.stop.stop_possible()))
          wrong += found != expected;
      };
      std::vector<std::thread> callers;
      for (std::uint64_t t = 0; t < 3; ++t)
        callers.emplace_back([&, t] {
          for (std::uint64_t i = 0; i < trees_a_caller * rounds(); ++i)
            call(i * 3 + t);
        });
      for (auto& c : callers)
        c.join();
      auto stats = rt.stats();
      CHECK(stats.computations_now == 0);
      CHECK(stats.delegates_now == 0);
      CHECK(stats.victims_now == 0);
      CHECK(stats.thefts == seen.thefts);
      CHECK(stats.seamless_thefts == seen.seamless);
      CHECK(stats.most_bytes_per_executor <= memory_limit);
      CHECK(stats.largest_cabal <= seen.cabal_limit);
      CHECK(seen.not_basal == 0);
      CHECK(seen.young == 0);
      CHECK(seen.before_actors == 0);
      CHECK(seen.cabal_exceeded == 0);
      CHECK(seen.over_memory == 0);
      CHECK(seen.to_itself == 0);
      thefts += seen.thefts;
      seamless += seen.seamless;
      doubles += seen.doubles;
      cancellations += stats.cancelled;
      over_limit += stats.over_limit;
    }
  CHECK(wrong == 0);
  // Otherwise the test proves nothing.
  INFO("thefts " << thefts << ", seamless " << seamless << ", of two " << doubles);
  CHECK(thefts > 0);
  CHECK(doubles > 0);
  CHECK(cancellations > 0);
  CHECK(over_limit > 0);
  std::printf("thefts %llu, seamless %llu, of two %llu, cancelled %llu, over limit %llu\n",
              static_cast<unsigned long long>(thefts), static_cast<unsigned long long>(seamless),
              static_cast<unsigned long long>(doubles),
              static_cast<unsigned long long>(cancellations),
              static_cast<unsigned long long>(over_limit));
}
