#pragma once

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/mab/family_table.hpp>
#include <basal/mab/pressure.hpp>
#include <basal/mab/random.hpp>
#include <basal/mab/rate_meter.hpp>
#include <basal/posse/runtime.hpp>

#include <caf/fwd.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace basal::actors {

struct adaptive_actor_config;

namespace detail {

/// The name of a family to which the user gives none: "actor/int, std::string". An actor may live
/// for one message, and to read the names of types takes longer than all else before that: this is
/// done for a new family alone.
struct family_name {
  std::string_view of;
  std::span<const std::type_info* const> types;

  std::string readable() const;
};

/// State shared by the choosers of one actor system: the families, the load of the message
/// executors, a source of random numbers for each of them, and where to offload. Outlives the
/// scheduler where an actor does; no chooser decides any more then.
class chooser_host {
public:
  chooser_host(caf::actor_system& system, executors::executor_pool& messages,
               posse::runtime& compute, const mab::knobs& k, bool calibrates);

  /// The host of `system`.
  /// @throws std::logic_error if the system does not run on basal.
  static std::shared_ptr<chooser_host> of(caf::actor_system& system);

  /// Knobs of choosers without knobs of their own. Any thread, fibers included. The first call
  /// measures what an offload of nothing costs, unless `calibrates` is off: 10 to 60 round trips,
  /// for which others that call wait, a fiber by being suspended. A program without adaptive
  /// handlers does not pay for it.
  const mab::knobs& knobs();

  /// Cost of an offload, as measured or set; 0 while it is still to be measured. Any thread.
  std::uint64_t expected_offload_ns() const noexcept {
    return is_calibrated_.load(std::memory_order_acquire)
             ? static_cast<std::uint64_t>(knobs_.offload_overhead_us * 1e3)
             : 0;
  }

  /// The family of `key`, or of the name that `config` gives and `key`; those with knobs of their
  /// own are families of their own. Any thread; takes a lock, unless a message executor has asked
  /// for it lately.
  /// @throws std::invalid_argument naming the knob and its range
  mab::family& family_of(mab::function_key key, const family_name& by_default,
                         const adaptive_actor_config& config);

  std::vector<mab::family_snapshot> snapshot() const {
    return families_.snapshot();
  }

  caf::actor_system& system() const noexcept {
    return system_;
  }

  posse::runtime& compute() const noexcept {
    return compute_;
  }

  /// The part that belongs to one message executor. Its thread's own, except for the rate.
  class alignas(64) lane {
  public:
    lane(executors::executor& executor, std::uint64_t seed);

    executors::executor& here;
    mab::splitmix64 random;

  private:
    friend class chooser_host;

    /// A family that was asked for here; the next one whose key has the same last bits takes its
    /// place.
    struct known_family {
      mab::function_key key;
      mab::family* found = nullptr;
    };
    std::array<known_family, 16> families_; // a guess
    mab::rate_meter meter_;
    double not_metered_ = 0;
    mab::load known_;
    std::uint64_t known_since_ = 0; // tick_clock; 0: never

    // Written by the lane's thread, read by all that look at the load. Relaxed: an estimate.
    std::atomic<double> per_second_{0};
    std::atomic<std::int64_t> metered_at_ns_{0};
  };

  /// The lane of the calling thread if it is a message executor, else null.
  lane* current_lane() noexcept {
    auto* self = executors::executor::current();
    return self != nullptr && &self->pool() == &messages_ ? lanes_[self->index()].get() : nullptr;
  }

  /// Counts an arrival. @param now tick_clock
  /// @returns how busy the message executors are, at most 20 us old: to look at them all takes
  ///          longer than to decide
  mab::load arrive(lane& here, std::uint64_t now) noexcept {
    here.not_metered_ += 1;
    if (now - here.known_since_ > known_for_ticks_)
      look(here, now);
    return here.known_;
  }

  /// Counts an arrival about which nothing is to be decided.
  void count_arrival(lane& here) noexcept {
    here.not_metered_ += 1;
  }

  /// How busy they are, for threads that are no message executors.
  mab::load look_from_outside() const noexcept;

private:
  /// A caller of knobs() that waits until the overhead was measured; the last one in the list
  /// measures it.
  struct waiter {
    waiter* next = nullptr;
    executors::completion measured = {};
  };

  void calibrate() noexcept;
  void measure();
  void look(lane& here, std::uint64_t now) noexcept;
  double arrivals_per_second(std::int64_t now_ns) const noexcept;

  caf::actor_system& system_;
  executors::executor_pool& messages_;
  posse::runtime& compute_;
  mab::knobs knobs_;                // written by who measures, before is_calibrated_
  std::atomic<bool> is_calibrated_; // release: knobs_ will not change
  std::mutex calibration_mutex_;
  waiter* waiters_ = nullptr; // under the mutex; not null: somebody measures
  const std::uint64_t known_for_ticks_;
  mab::family_table families_;
  std::vector<std::unique_ptr<lane>> lanes_; // one for each message executor
};

} // namespace detail
} // namespace basal::actors
