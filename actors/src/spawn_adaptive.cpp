#include <basal/actors/spawn_adaptive.hpp>

#include <basal/executors/detail/stopwatch.hpp>
#include <basal/posse/errors.hpp>

#include <tuple>

namespace basal::actors::detail {

using executors::stopwatch;
using executors::tick_clock;

const executors::work_ops one_shot::ops{&one_shot::run_there, &one_shot::discard};

one_shot::one_shot(caf::actor_system& system, mab::function_key key, const std::type_info* function,
                   const adaptive_actor_config& config)
  : host_(chooser_host::of(system)),
    hint_(config.hint),
    family_(host_->family_of(key, {"one-shot", {&function, 1}}, config)) {
}

void one_shot::start(executors::work_reference<one_shot> x, scope_count* scope) {
  auto& self = *x;
  if (scope != nullptr) {
    scope->begin_one();
    self.scope_ = scope;
  }
  auto* lane = self.host_->current_lane();
  if (lane != nullptr && self.family_.newcomers_on(lane->here.index()).begin()) {
    self.run_granted(*lane);
    return;
  }
  auto& chooser = self.chooser_.emplace(self.family_);
  self.start_ = tick_clock::now();
  if (lane != nullptr) {
    self.decision_.emplace(
      chooser.choose(self.host_->arrive(*lane, self.start_), lane->random, self.hint_));
  } else {
    // One draw for each one-shot, so the time serves as a seed.
    mab::splitmix64 random{self.start_};
    self.decision_.emplace(chooser.choose(self.host_->look_from_outside(), random, self.hint_));
  }
  if (self.decision_->choice() == mab::arm::inline_here) {
    self.run_and_tell(executors::executor::current(), nullptr);
    return;
  }
  if (!self.host_->compute().compute().submit({&self, &ops})) {
    self.forget();
    if (scope != nullptr)
      scope->end_one();
    throw posse::runtime_stopped{};
  }
  std::ignore = x.release(); // the queue's; it may be gone by now
}

void one_shot::run_granted(chooser_host::lane& lane) noexcept {
  host_->count_arrival(lane);
  stopwatch watch{lane.here.running(), stopwatch::precision::ticks};
  run(nullptr);
  const auto inside = watch.stop();
  if (!family_.newcomers_on(lane.here.index()).ended(inside.busy, family_))
    chooser_.emplace(family_).granted().finish(
      {.cost = inside.elapsed, .function_time = inside.busy, .elapsed = inside.elapsed});
  end();
}

void one_shot::run_and_tell(executors::executor* here, executors::executor* handed_to) noexcept {
  std::optional<stopwatch> watch;
  if (here != nullptr)
    watch.emplace(here->running(), precision_for(*chooser_));
  run(handed_to);
  const mab::microseconds cost = tick_clock::to_duration(tick_clock::now() - start_);
  if (watch) {
    const auto inside = watch->stop();
    decision_->finish({.cost = cost, .function_time = inside.busy, .elapsed = inside.elapsed});
  } else {
    decision_->finish({.cost = cost});
  }
  if (auto* lane = handed_to == nullptr ? host_->current_lane() : nullptr)
    family_.newcomers_on(lane->here.index())
      .allow(chooser_->next_newcomers(), chooser_->last().pressure, family_);
  end();
}

void one_shot::end() noexcept {
  auto* scope = scope_;
  announce();
  if (scope != nullptr)
    scope->end_one();
}

void one_shot::expect_run() const {
  if (discarded_)
    throw posse::cancelled{};
}

void one_shot::run_there(void* object, executors::executor& self) noexcept {
  // Held to the end of this call. Objects that the function borrows may go once the scope was told;
  // nothing is left of the function by then.
  const executors::work_reference<one_shot> x{static_cast<one_shot*>(object)};
  x->run_and_tell(&self, &self);
}

void one_shot::discard(void* object) noexcept {
  const executors::work_reference<one_shot> x{static_cast<one_shot*>(object)};
  x->discarded_ = true;
  x->forget();
  x->end();
}

} // namespace basal::actors::detail
