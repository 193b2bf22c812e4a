#include <basal/actors/detail/chooser_host.hpp>

#include <basal/actors/adaptive_actor_config.hpp>
#include <basal/actors/detail/hop.hpp>
#include <basal/actors/detail/system_core.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/demangled.hpp>
#include <basal/mab/calibration.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

namespace basal::actors {

const mab::knobs& knobs_of(caf::actor_system& system) {
  return detail::chooser_host::of(system)->knobs();
}

namespace detail {

namespace {

using namespace std::chrono_literals;
using executors::tick_clock;
using steady = std::chrono::steady_clock;

constexpr std::size_t few_trips = 5;
constexpr std::size_t calibration_trips = 50;
constexpr double busy_us = 20;

mab::function_key key_of(const mab::knobs& k) {
  auto result = mab::function_key::from_name("knobs");
  const auto add
    = [&](std::uint64_t x) { result = mab::function_key::combine(result, mab::function_key{x}); };
  for (const auto& info : mab::knob_table())
    add(std::bit_cast<std::uint64_t>(k.*info.value));
  add(k.hint_exploration_count);
  add(k.enable_strikes ? 1 : 0);
  add(k.restart_on_shift ? 1 : 0);
  add(static_cast<std::uint64_t>(k.chosen_by));
  add(static_cast<std::uint64_t>(k.model));
  return result;
}

} // namespace

chooser_host::lane::lane(executors::executor& executor, std::uint64_t seed)
  : here(executor), random(seed), meter_(steady::now().time_since_epoch()) {
}

chooser_host::chooser_host(caf::actor_system& system, executors::executor_pool& messages,
                           posse::runtime& compute, const mab::knobs& k, bool calibrates)
  : system_(system),
    messages_(messages),
    compute_(compute),
    knobs_(k),
    is_calibrated_(!calibrates),
    known_for_ticks_(tick_clock::to_ticks(20us)),
    families_(messages.size()) {
  mab::splitmix64 seeds{0x62617361}; // the same in every run; threads make the difference anyway
  for (std::size_t i = 0; i < messages.size(); ++i)
    lanes_.push_back(std::make_unique<lane>(messages.at(i), seeds()));
}

std::shared_ptr<chooser_host> chooser_host::of(caf::actor_system& system) {
  return system_core::of(system, "an adaptive handler was made").choosers();
}

const mab::knobs& chooser_host::knobs() {
  if (!is_calibrated_.load(std::memory_order_acquire))
    calibrate();
  return knobs_;
}

void chooser_host::calibrate() noexcept {
  waiter self;
  bool is_first = false;
  {
    std::lock_guard guard{calibration_mutex_};
    if (is_calibrated_.load(std::memory_order_relaxed))
      return;
    is_first = waiters_ == nullptr;
    self.next = std::exchange(waiters_, &self);
  }
  if (!is_first) {
    self.measured.wait();
    return;
  }
  try {
    measure();
  } catch (const std::exception&) { // the system stops; nobody will decide much
  }
  waiter* waiting = nullptr;
  {
    std::lock_guard guard{calibration_mutex_};
    is_calibrated_.store(true, std::memory_order_release);
    waiting = std::exchange(waiters_, nullptr);
  }
  while (waiting != &self)
    std::exchange(waiting, waiting->next)->measured.set(); // which may end the waiter
}

/// On a message executor, since that is where handlers offload from.
void chooser_host::measure() {
  const auto measured_here = [this] {
    const auto nothing = [] {};
    const auto trip = [&] { hop(compute_, nothing); };
    // A few tell whether the machine is busy with something else: then more of them would only
    // delay the caller, and the quickest is nearest to what an offload costs undisturbed.
    const auto few = mab::calibrate(trip, steady::now, few_trips, few_trips);
    knobs_.offload_overhead_us
      = few.overhead_us() < busy_us
          ? mab::calibrate(trip, steady::now, calibration_trips, 0).overhead_us()
          : std::max(1e-3, few.quickest_us);
  };
  const auto* self = executors::executor::current();
  if (self != nullptr && &self->pool() == &messages_) {
    measured_here();
    return;
  }
  auto there = [&](executors::executor&) { measured_here(); };
  executors::awaited_call call{there};
  if (call.run_on(messages_) == executors::errand_end::ran)
    call.take();
}

std::string family_name::readable() const {
  std::string result{of};
  const char* separator = "/";
  for (const auto* type : types) {
    result += separator;
    result += basal::detail::demangled(type->name());
    separator = ", ";
  }
  return result;
}

mab::family& chooser_host::family_of(mab::function_key key, const family_name& by_default,
                                     const adaptive_actor_config& config) {
  if (!config.name.empty())
    key = mab::function_key::combine(key, mab::function_key::from_name(config.name));
  if (config.knobs) {
    config.knobs->validate();
    key = mab::function_key::combine(key, key_of(*config.knobs));
  }
  auto* here = current_lane();
  auto* lately = here != nullptr ? &here->families_[key.value % here->families_.size()] : nullptr;
  if (lately != nullptr && lately->found != nullptr && lately->key == key)
    return *lately->found;
  if (auto* known = families_.find(key)) {
    if (lately != nullptr)
      *lately = {key, known};
    return *known;
  }
  for (auto* pool : {&messages_, &compute_.compute()})
    pool->want_own_time(); // or a handler would look slow whose executor had no CPU
  return families_.get(key, config.name.empty() ? by_default.readable() : config.name,
                       config.knobs ? *config.knobs : knobs());
}

mab::load chooser_host::look_from_outside() const noexcept {
  const auto runnable = messages_.num_runnable();
  return {.workers = static_cast<std::uint32_t>(messages_.size()),
          .inflight = static_cast<std::uint32_t>(runnable),
          .spawn_rate_per_s = arrivals_per_second(steady::now().time_since_epoch().count())};
}

void chooser_host::look(lane& here, std::uint64_t now) noexcept {
  BASAL_ASSERT(executors::executor::current() == &here.here,
               "a lane belongs to its executor's thread");
  const auto wall = steady::now().time_since_epoch();
  here.meter_.count(wall, here.not_metered_);
  here.not_metered_ = 0;
  here.per_second_.store(here.meter_.per_second(wall), std::memory_order_relaxed);
  here.metered_at_ns_.store(wall.count(), std::memory_order_relaxed);
  here.known_ = look_from_outside();
  // The one that decides does not wait for itself.
  here.known_.inflight -= std::min(here.known_.inflight, std::uint32_t{1});
  here.known_since_ = now;
}

double chooser_host::arrivals_per_second(std::int64_t now_ns) const noexcept {
  double sum = 0;
  for (const auto& l : lanes_) {
    // Rates of lanes that meet no adaptive handler any more do not fade by themselves.
    const auto age_ns = now_ns - l->metered_at_ns_.load(std::memory_order_relaxed);
    sum += l->per_second_.load(std::memory_order_relaxed)
           * std::exp(-1e-9 * static_cast<double>(std::max<std::int64_t>(0, age_ns)));
  }
  return sum;
}

} // namespace detail
} // namespace basal::actors
