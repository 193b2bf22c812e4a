#pragma once

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

namespace basal::bench {

/// As many CPUs as a pool of stepped executors has, each with a clock of its own that moves while
/// the work that runs there spends time. One runs at a time: the one whose clock is behind, the
/// lower number first. So a run says when things happen on many CPUs, on a machine that has few,
/// and the same at each run. What the runtime itself does takes no time.
///
/// One at a time in a program. The pool's clock is `now`.
class simulated_machine {
public:
  /// An executor that has nothing to do looks again after this time.
  static constexpr std::chrono::nanoseconds idle_look = std::chrono::microseconds{5};

  /// The time on the CPU whose thread calls; on other threads that of the machine's begin.
  static std::uint64_t now() noexcept {
    return mine_ != nullptr ? mine_->time : begin_of_time;
  }

  /// @param pool has simulation::stepped and `now`
  explicit simulated_machine(executors::executor_pool& pool) : pool_(pool) {
    for (std::size_t i = 0; i < pool.size(); ++i)
      cpus_.push_back(std::make_unique<cpu>());
  }

  /// The work that runs takes that long. On a CPU's thread.
  void spend(std::chrono::nanoseconds time) {
    mine_->time += executors::tick_clock::to_ticks(time);
    auto& next = **std::min_element(cpus_.begin(), cpus_.end(),
                                    [](auto& a, auto& b) { return a->time < b->time; });
    if (&next == mine_)
      return;
    auto& self = *mine_;
    next.turn.release();
    self.turn.acquire();
  }

  /// Runs the pool's executors until `ended()`, which is asked whenever one has nothing to do.
  template <class Ended>
  void run(Ended ended) {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cpus_.size(); ++i)
      threads.emplace_back([&, i] {
        mine_ = cpus_[i].get();
        mine_->turn.acquire();
        while (!over.load()) {
          if (!pool_.step(i))
            spend(idle_look);
          if (ended())
            over = true;
        }
        for (const auto& each : cpus_) // whose turn it is ends, too; all of them have no work
          each->turn.release();
      });
    cpus_.front()->turn.release();
    for (auto& t : threads)
      t.join();
  }

private:
  static constexpr std::uint64_t begin_of_time = std::uint64_t{1} << 40;

  struct cpu {
    std::uint64_t time = begin_of_time;
    std::counting_semaphore<> turn{0};
  };

  static inline thread_local cpu* mine_ = nullptr;

  executors::executor_pool& pool_;
  std::vector<std::unique_ptr<cpu>> cpus_;
};

} // namespace basal::bench
