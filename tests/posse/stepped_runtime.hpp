#pragma once

// Computations on executors without threads, with a clock that the test moves: each test says which
// executor does what when, and when time passes.

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace basal::test {

using namespace std::chrono_literals;

inline std::uint64_t time_now = 0;

inline void pass(std::chrono::nanoseconds time) {
  time_now += executors::tick_clock::to_ticks(time);
}

inline constexpr auto quantum = 200us;

/// By quanta, the rule in which nothing depends on what work is worth: see worth.test.cpp.
inline posse::runtime_config stepped(std::size_t executors) {
  time_now = executors::tick_clock::to_ticks(1s);
  posse::runtime_config config;
  config.compute_executors = executors;
  config.quantum = quantum;
  config.steal_by = posse::hysteresis::quantum;
  config.simulate = {.ticks = []() noexcept { return time_now; }, .seed = 1, .stepped = true};
  return config;
}

/// By worth: all idle executors are awake.
inline posse::runtime_config by_worth(std::size_t executors) {
  auto config = stepped(executors);
  config.steal_by = posse::hysteresis::worth;
  config.costs = {.awake_ns = 5'000, .asleep_ns = 100'000, .measure = false};
  return config;
}

/// A look at the clock here and now, as when somebody has raised the attention.
inline void look(posse::member& m) {
  m.executor().raise_attention();
  m.poll();
}

/// Lets a quantum pass and look at its end.
inline void end_quantum(posse::member& m) {
  pass(quantum);
  look(m);
}

inline std::vector<executors::fiber*> paused_members;

/// Suspends the member until go_on(), so that those who have been given something begin before
/// it comes to the merge, or those of whom it would take something.
inline void let_thieves_begin(posse::member& m) {
  REQUIRE(m.executor().suspend([](executors::fiber& f) noexcept { paused_members.push_back(&f); }));
}

inline void go_on() {
  for (auto* f : std::exchange(paused_members, {}))
    executors::executor::wake(*f);
}

/// Executors of one runtime, all asleep at first.
class stepped_runtime {
public:
  explicit stepped_runtime(const posse::runtime_config& config) : host_(config) {
    host_.compute().run_until_idle();
  }

  posse::runtime& operator*() noexcept {
    return host_;
  }

  posse::runtime* operator->() noexcept {
    return &host_;
  }

  executors::executor& at(std::size_t index) noexcept {
    return host_.compute().at(index);
  }

  std::uint64_t count(posse::theft_verdict verdict) const {
    return host_.stats().verdicts[verdict];
  }

  /// Lets executor `index` run until it has nothing to do.
  void run(std::size_t index) {
    while (host_.compute().step(index)) {
    }
  }

  /// Lets all of them.
  void run_all() {
    host_.compute().run_until_idle();
  }

private:
  posse::runtime host_;
};

/// A computation that was given to a sleeping executor and begins at its next step.
class started {
public:
  started(stepped_runtime& host, std::size_t where, std::function<void(posse::member&)> body,
          posse::call_options options = {})
    : host_(host), body_(std::move(body)), options_(std::move(options)) {
    node_.item = {this, &ops};
    REQUIRE(host->compute().claim_idle(where));
    host->compute().deliver_claimed(host.at(where), node_);
  }

  started(const started&) = delete;
  started& operator=(const started&) = delete;

  bool has_ended() const noexcept {
    return ended_;
  }

  /// The message of its exception; empty if it returned, or has not ended.
  std::string error() const {
    try {
      if (error_)
        std::rethrow_exception(error_);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }

private:
  stepped_runtime& host_;
  std::function<void(posse::member&)> body_;
  posse::call_options options_;
  executors::inbox_node node_;
  std::exception_ptr error_;
  bool ended_ = false;

  static const executors::work_ops ops;
};

inline constexpr executors::work_ops started::ops{
  [](void* object, executors::executor&) noexcept {
    auto& self = *static_cast<started*>(object);
    try {
      self.host_->run(self.options_, [&](posse::member& m) { self.body_(m); });
    } catch (...) {
      self.error_ = std::current_exception();
    }
    self.ended_ = true;
  },
  nullptr,
};

/// An executor that is busy with something else: sleeps no more from the
/// beginning on, until it is stepped.
class occupied {
public:
  occupied(stepped_runtime& host, std::size_t where) {
    node_.item = {this, &ops};
    REQUIRE(host->compute().claim_idle(where));
    host->compute().deliver_claimed(host.at(where), node_);
  }

  occupied(const occupied&) = delete;
  occupied& operator=(const occupied&) = delete;

private:
  static constexpr executors::work_ops ops{[](void*, executors::executor&) noexcept {}, nullptr};

  executors::inbox_node node_;
};

} // namespace basal::test
