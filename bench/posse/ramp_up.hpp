#pragma once

#include "bench/posse/simulated_machine.hpp"

#include <basal/posse/posse.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ranges>
#include <vector>

namespace basal::bench {

/// How long a computation takes to spread to all executors of a machine with many CPUs, whose
/// executors all look for work. Simulated: see simulated_machine.
class ramp_up {
public:
  explicit ramp_up(std::size_t executors)
    : host_(config(executors)), machine_(host_.compute()), began_(executors, never) {
  }

  /// The work that runs takes that long, unless all executors are busy already: the rest of the
  /// computation has nothing more to tell.
  void spend(posse::member& m, std::chrono::nanoseconds time) {
    auto& began = began_[m.executor().index()];
    if (began == never) {
      began = simulated_machine::now();
      ++busy_;
    }
    if (busy_ < began_.size())
      machine_.spend(time);
  }

  /// @param body the computation; it calls spend()
  /// @returns after how many quanta all executors had some of it; infinity: some had none
  double quanta(std::function<void(posse::member&)> body) {
    job whole{host_, std::move(body)};
    host_.compute().run_until_idle(); // only a sleeper can be given work
    if (!host_.compute().submit({&whole, &job::ops}))
      return std::numeric_limits<double>::infinity();
    machine_.run([&] { return whole.ended; });
    if (busy_ < began_.size())
      return std::numeric_limits<double>::infinity();
    const auto [first, last] = std::minmax_element(began_.begin(), began_.end());
    return static_cast<double>(*last - *first)
           / static_cast<double>(executors::tick_clock::to_ticks(host_.config().quantum));
  }

private:
  static constexpr auto never = std::numeric_limits<std::uint64_t>::max();

  struct job {
    posse::runtime& host;
    std::function<void(posse::member&)> body;
    bool ended = false;

    static void run(void* object, executors::executor&) noexcept {
      auto& self = *static_cast<job*>(object);
      self.host.run([&self](posse::member& m) { self.body(m); });
      self.ended = true;
    }

    static inline const executors::work_ops ops{&run, nullptr};
  };

  static posse::runtime_config config(std::size_t executors) {
    posse::runtime_config result;
    result.compute_executors = executors;
    result.simulate = {.ticks = &simulated_machine::now, .seed = 1, .stepped = true};
    return result;
  }

  posse::runtime host_;
  simulated_machine machine_;
  std::vector<std::uint64_t> began_; ///< ticks, by executor
  std::size_t busy_ = 0;
};

/// A range of 10^6 elements of 1 us.
inline double quanta_of_range(std::size_t executors) {
  ramp_up all{executors};
  return all.quanta([&](posse::member& m) {
    posse::for_each(m, std::views::iota(0, 1'000'000), [&](posse::member& here, int) {
      all.spend(here, std::chrono::microseconds{1});
    });
  });
}

/// A tree of forks with 2^14 leaves of 10 us.
inline double quanta_of_tree(std::size_t executors) {
  ramp_up all{executors};
  std::function<void(posse::member&, int)> tree = [&](posse::member& m, int levels) {
    if (levels == 0) {
      all.spend(m, std::chrono::microseconds{10});
      return;
    }
    m.fork_merge([&](posse::member& l) { tree(l, levels - 1); },
                 [&](posse::member& r) { tree(r, levels - 1); });
  };
  return all.quanta([&](posse::member& m) { tree(m, 14); });
}

} // namespace basal::bench
