// Cost of a task from its submission until its result has been taken, in bursts of 100: a plain
// spawn (a closure and a completion on the executors' own queue, as one would write it by hand),
// spawn() below two evaluations, spawn() above, and std::async.
//
// Each task works for some 4 us, a short one for something worth sending elsewhere; the rows of
// empty tasks show the bare costs.

#include "bench/support/bench.hpp"

#include <basal/executors/completion.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/priority/background_pool.hpp>
#include <basal/priority/evaluation.hpp>

#include <memory>
#include <optional>
#include <vector>

using namespace basal;

namespace {

constexpr std::uint64_t burst = 100;

std::uint64_t work(std::uint64_t steps, std::uint64_t x) {
  for (std::uint64_t i = 0; i < steps; ++i)
    x = bench::opaque(x * 6364136223846793005u + 1442695040888963407u);
  return x;
}

/// A plain spawn: its result, and the event that it is there.
template <class Function>
struct plain_task {
  explicit plain_task(Function f) : function(std::move(f)) {
  }

  std::uint64_t get() {
    done.wait();
    return *result;
  }

  static constexpr executors::work_ops ops{
    [](void* object, executors::executor&) noexcept {
      auto& t = *static_cast<plain_task*>(object);
      t.result = t.function();
      t.done.set();
    },
    [](void*) noexcept {},
  };

  Function function;
  std::optional<std::uint64_t> result;
  executors::completion done;
};

executors::pool_config one_executor() {
  executors::pool_config config;
  config.executors = 1;
  return config;
}

std::uint64_t expected(std::uint64_t steps) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < burst; ++i)
    sum += work(steps, i);
  return sum;
}

void plain(benchmark::State& state, std::uint64_t steps) {
  executors::executor_pool executors{one_executor()};
  bench::check(state, expected(steps), [&] {
    auto spawn = [&](auto f) {
      auto t = std::make_unique<plain_task<decltype(f)>>(std::move(f));
      if (!executors.submit({t.get(), &t->ops}))
        throw std::logic_error("the pool is closed");
      return t;
    };
    auto make = [&](std::uint64_t i) { return [=] { return work(steps, i); }; };
    std::vector<std::unique_ptr<plain_task<decltype(make(0))>>> tasks;
    for (std::uint64_t i = 0; i < burst; ++i)
      tasks.push_back(spawn(make(i)));
    std::uint64_t sum = 0;
    for (auto& t : tasks)
      sum += t->get();
    return sum;
  });
}

void spawned(benchmark::State& state, std::uint64_t steps, priority::route way) {
  executors::executor_pool executors{one_executor()};
  auto& pool = priority::background_pool::build(executors, {.spawns = way});
  bench::check(state, expected(steps), [&] {
    priority::evaluation mine{pool};
    std::vector<priority::task_handle<std::uint64_t>> tasks;
    for (std::uint64_t i = 0; i < burst; ++i)
      tasks.push_back(pool.spawn({}, [=] { return work(steps, i); }));
    std::uint64_t sum = 0;
    for (auto& t : tasks)
      sum += t.get();
    return sum;
  });
}

const bench::suite spawn_suite{[](bench::plan& plan) {
  for (const std::uint64_t steps : {std::uint64_t{0}, std::uint64_t{1500}}) {
    const char* workload = steps == 0 ? "spawn_empty" : "spawn";
    auto name = [=](const char* impl) { return bench::case_name(workload, burst, impl, 1); };
    const bench::case_options compared{.baseline = name("plain")};
    plan.add(
      name("plain"), [=](benchmark::State& s) { plain(s, steps); }, compared);
    plan.add(
      name("sequential"),
      [=](benchmark::State& s) { spawned(s, steps, priority::route::automatic); }, compared);
    plan.add(
      name("priority"), [=](benchmark::State& s) { spawned(s, steps, priority::route::priority); },
      compared);
    const std::string figure = steps == 0 ? "empty_" : "";
    plan.figure(figure + "sequential_path_ratio", bench::ratio(name("sequential"), name("plain")));
    plan.figure(figure + "priority_path_ratio", bench::ratio(name("priority"), name("plain")));
  }
}};

} // namespace
