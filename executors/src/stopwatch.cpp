#include <basal/executors/detail/stopwatch.hpp>

#include <memory>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>

#include "thread_usage.hpp"

namespace basal::executors {

stopwatch::stopwatch(fiber& on, precision p, std::uint64_t now) noexcept
  : on_(on), outer_(on.watch()), precision_(p), started_(now) {
  BASAL_ASSERT(executor::current() == &on.home() && &on == &on.home().running(),
               "a stopwatch is for the fiber that runs");
  on.watch() = this;
  start_stretch(now);
}

stopwatch::~stopwatch() {
  if (running_)
    stop();
}

stopwatch::reading stopwatch::stop() noexcept {
  BASAL_ASSERT(running_, "a stopwatch is stopped once");
  BASAL_ASSERT(on_.watch() == this, "of two stopwatches on a fiber the inner one stops first");
  const auto now = tick_clock::now();
  end_stretch(now);
  running_ = false;
  on_.watch() = outer_;
  // The event that told this thread of the parts' ends has published the sum.
  const std::chrono::nanoseconds added{added_ns_.load(std::memory_order_relaxed)};
  if (outer_ != nullptr)
    outer_->add(added);
  const auto ticks = now - started_;
  const auto elapsed = tick_clock::to_duration(ticks);
  const auto by_ticks = busy_ticks_ == ticks ? elapsed : tick_clock::to_duration(busy_ticks_);
  return {std::chrono::nanoseconds{busy_ns_} + by_ticks + added, elapsed};
}

void stopwatch::pause() noexcept {
  end_stretch(tick_clock::now());
  if (outer_ != nullptr)
    outer_->pause();
}

void stopwatch::go_on() noexcept {
  if (outer_ != nullptr)
    outer_->go_on();
  start_stretch(tick_clock::now());
}

void stopwatch::start_stretch(std::uint64_t now) noexcept {
  if (precision_ == precision::cpu_clock) {
    blocked_before_ = thread_usage().ru_nvcsw;
    cpu_start_ns_ = thread_cpu_ns();
  } else {
    lost_before_ = on_.home().lost_ns();
  }
  stretch_start_ = now;
}

void stopwatch::end_stretch(std::uint64_t now) noexcept {
  if (precision_ == precision::ticks)
    busy_ticks_ += own_ticks(now);
  else
    busy_ns_ += by_cpu_clock(tick_clock::to_duration(now - stretch_start_)).count();
}

/// Others may have had the CPU in much of a stretch that has taken long.
std::uint64_t stopwatch::own_ticks(std::uint64_t now) const noexcept {
  static const auto worth_asking = tick_clock::to_ticks(std::chrono::microseconds{100});
  const auto took = now - stretch_start_;
  return took < worth_asking ? took : on_.home().own_ticks(took, now, lost_before_);
}

std::chrono::nanoseconds
stopwatch::by_cpu_clock(std::chrono::nanoseconds by_wall_clock) const noexcept {
  const std::chrono::nanoseconds cpu{thread_cpu_ns() - cpu_start_ns_};
  return cpu < by_wall_clock && thread_usage().ru_nvcsw == blocked_before_ ? cpu : by_wall_clock;
}

delegated_time::delegated_time(executor& self, stopwatch* account) noexcept : account_(account) {
  BASAL_ASSERT(executor::current() == &self, "work that is handed over runs on its executor");
  if (account_ != nullptr)
    std::construct_at(&own_, self.running(), stopwatch::precision::cpu_clock);
}

delegated_time::~delegated_time() {
  if (account_ == nullptr)
    return;
  account_->add(own_.stop().busy);
  std::destroy_at(&own_);
}

stopwatch* delegated_time::current_account() noexcept {
  auto* self = executor::current();
  return self != nullptr ? self->running().watch() : nullptr;
}

} // namespace basal::executors
