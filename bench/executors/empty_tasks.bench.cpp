// A task spawns a million empty ones and the caller waits until all have run: what a task costs
// that does nothing.
//
// Each library as its manual has it. basal's tasks are two words that the spawner owns; the others
// allocate and copy a closure. oneTBB's task_group counts its tasks itself, for the others an
// atomic counter does. `std::async` starts a thread per task, so it gets 1 % of them; its row is
// that of another size.

#include "bench/support/bench.hpp"

#include <basal/executors/executors.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <vector>

namespace {

using namespace basal;

/// Counts tasks down; whoever waits is told when none is left.
class countdown {
public:
  explicit countdown(std::int64_t tasks) : left_(tasks) {
  }

  // Release for what a task did, acquire for the last one, which passes all of it on.
  void task_done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      done_.set();
  }

  /// @returns how many tasks have not run: 0, or something is broken.
  std::int64_t wait() {
    done_.wait();
    return left_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::int64_t> left_;
  executors::completion done_;
};

struct burst {
  std::int64_t tasks;
  countdown left{tasks};
};

constexpr executors::work_ops empty_ops{
  [](void* object, executors::executor&) noexcept { static_cast<countdown*>(object)->task_done(); },
  [](void*) noexcept {},
};

constexpr executors::work_ops burst_ops{
  [](void* object, executors::executor& self) noexcept {
    auto& all = *static_cast<burst*>(object);
    // Counted in a local: once the last task is pushed, `all` may be gone.
    for (auto tasks = all.tasks; tasks > 0; --tasks)
      self.push_back({&all.left, &empty_ops});
  },
  [](void*) noexcept {},
};

std::int64_t run_basal(executors::executor_pool& pool, std::int64_t tasks) {
  burst all{tasks};
  if (!pool.submit({&all, &burst_ops}))
    return tasks;
  return all.left.wait();
}

std::int64_t run_asio(boost::asio::thread_pool& pool, std::int64_t tasks) {
  countdown left{tasks};
  boost::asio::post(pool, [&] {
    for (auto i = tasks; i > 0; --i)
      boost::asio::post(pool, [&left] { left.task_done(); });
  });
  return left.wait();
}

std::int64_t run_tbb(tbb::task_arena& arena, std::int64_t tasks) {
  arena.execute([=] {
    tbb::task_group group;
    for (auto i = tasks; i > 0; --i)
      group.run([] {});
    group.wait();
  });
  return 0;
}

std::int64_t run_async(std::int64_t tasks) {
  std::vector<std::future<void>> futures;
  futures.reserve(static_cast<std::size_t>(tasks));
  for (auto i = tasks; i > 0; --i)
    futures.push_back(std::async(std::launch::async, [] {}));
  for (auto& f : futures) {
    f.get();
    --tasks;
  }
  return tasks;
}

const bench::suite empty_tasks_suite{[](bench::plan& plan) {
  const std::int64_t tasks = plan.quick() ? 50'000 : 1'000'000;
  auto name = [=](const char* library, int workers) {
    return bench::case_name("empty_tasks", tasks, library, workers);
  };
  for (const int workers : {1, 2}) {
    const bench::case_options compared{.baseline = name("basal", workers)};
    const auto count = static_cast<std::size_t>(workers);
    plan.add(
      name("basal", workers),
      [=](benchmark::State& state) {
        executors::pool_config config;
        config.executors = count;
        executors::executor_pool pool{config};
        bench::check(state, std::int64_t{0}, [&] { return run_basal(pool, tasks); });
      },
      compared);
    plan.add(
      name("asio", workers),
      [=](benchmark::State& state) {
        boost::asio::thread_pool pool{count};
        bench::check(state, std::int64_t{0}, [&] { return run_asio(pool, tasks); });
      },
      compared);
    plan.add(
      name("tbb", workers),
      [=](benchmark::State& state) {
        tbb::task_arena arena{workers};
        bench::check(state, std::int64_t{0}, [&] { return run_tbb(arena, tasks); });
      },
      compared);
  }
  plan.add(bench::case_name("empty_tasks", tasks / 100, "std_async", 2),
           [=](benchmark::State& state) {
             bench::check(state, std::int64_t{0}, [&] { return run_async(tasks / 100); });
           });
}};

} // namespace
