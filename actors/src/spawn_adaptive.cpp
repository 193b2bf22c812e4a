#include <basal/actors/spawn_adaptive.hpp>

#include <basal/posse/errors.hpp>

#include <caf/logger.hpp>

namespace basal::actors::detail {

using executors::stopwatch;
using executors::tick_clock;

const executors::work_ops one_shot::ops{&one_shot::run, &one_shot::discard};

one_shot::one_shot(caf::actor_system& system, mab::function_key key, const std::type_info& function,
                   const adaptive_actor_config& config)
  : host_(chooser_host::of(system)),
    hint_(config.hint),
    chooser_(host_->family_of(
      config.name.empty()
        ? key
        : mab::function_key::combine(key, mab::function_key::from_name(config.name)),
      config.name.empty() ? readable_name("one-shot", {&function}) : config.name, config.knobs)) {
}

void one_shot::start(const std::shared_ptr<one_shot>& x, scope_count* scope) {
  auto& self = *x;
  auto* here = executors::executor::current();
  self.start_ = tick_clock::now();
  if (auto* lane = self.host_->current_lane()) {
    self.decision_.emplace(
      self.chooser_.choose(self.host_->arrive(*lane, self.start_), lane->random, self.hint_));
  } else {
    // One draw for each one-shot, so the time serves as a seed.
    mab::splitmix64 random{self.start_};
    self.decision_.emplace(
      self.chooser_.choose(self.host_->look_from_outside(), random, self.hint_));
  }
  if (scope != nullptr) {
    scope->begin_one();
    self.scope_ = scope;
  }
  if (self.decision_->choice() == mab::arm::inline_here) {
    self.run_here(here);
    return;
  }
  self.self_ = x;
  if (!self.host_->compute().compute().submit({&self, &ops})) {
    self.self_.reset();
    if (scope != nullptr)
      scope->end_one();
    throw posse::runtime_stopped{};
  }
}

void one_shot::run_here(executors::executor* here) noexcept {
  std::optional<stopwatch> watch;
  if (here != nullptr)
    watch.emplace(here->running(), stopwatch::precision::cpu_clock);
  try {
    call();
  } catch (...) {
    thrown = std::current_exception();
  }
  const mab::microseconds cost = tick_clock::to_duration(tick_clock::now() - start_);
  if (watch) {
    const auto inside = watch->stop();
    decision_->finish({.cost = cost, .function_time = inside.busy, .elapsed = inside.elapsed});
  } else {
    decision_->finish({.cost = cost});
  }
  end();
}

void one_shot::end() noexcept {
  auto* scope = scope_;
  done.set(); // whoever waits may go on, but keeps us
  if (scope != nullptr)
    scope->end_one();
}

void one_shot::run(void* object, executors::executor& self) noexcept {
  // Ends with the function: what it borrows may go once the scope was told, so nothing of it is
  // touched after that but this.
  const auto x = std::move(static_cast<one_shot*>(object)->self_);
  if (caf::logger::current_logger() == nullptr)
    CAF_SET_LOGGER_SYS(&x->host_->system());
  x->run_here(&self);
}

void one_shot::discard(void* object) noexcept {
  const auto x = std::move(static_cast<one_shot*>(object)->self_);
  x->thrown = std::make_exception_ptr(posse::cancelled{});
  x->end();
}

} // namespace basal::actors::detail
