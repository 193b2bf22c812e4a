#include <basal/actors/detail/adaptive_core.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>

namespace basal::actors::detail {

namespace {

using executors::stopwatch;
using executors::tick_clock;

// From here on the CPU clock's 0.4 us do not show.
constexpr double worth_the_cpu_clock_us = 50;

} // namespace

adaptive_core::adaptive_core(caf::actor_system& system, mab::function_key key,
                             const family_name& default_name, const adaptive_actor_config& config)
  : host_(chooser_host::of(system)),
    hint_(config.hint),
    family_(host_->family_of(key, default_name, config)) {
}

stopwatch::precision precision_for(const mab::chooser& decider) noexcept {
  // Nobody has seen one, whatever its hint says: its time will be what all others begin with.
  if (decider.counters()[mab::event::finished] == 0 && !decider.shared().learned())
    return stopwatch::precision::cpu_clock;
  const auto us = decider.effective_ema_us(); // 0: unknown
  return us > 0 && us < worth_the_cpu_clock_us ? stopwatch::precision::ticks
                                               : stopwatch::precision::cpu_clock;
}

adaptive_core::turn::turn(adaptive_core& core, chooser_host::lane& lane,
                          mab::compute_hint hint) noexcept
  : core_(core),
    lane_(lane),
    start_(tick_clock::now()),
    decision_(core.own_chooser().choose(core.host_->arrive(lane, start_), lane.random, hint)),
    precision_(precision_for(*core.chooser_)) { // by what the family knows, if it is the first
}

adaptive_core::turn::~turn() {
  if (!inside_)
    return; // counts as abandoned
  const bool here = decision_.choice() == mab::arm::inline_here;
  decision_.finish(
    {.cost = here ? inside_->elapsed : tick_clock::to_duration(tick_clock::now() - start_),
     .function_time = inside_->busy,
     .elapsed = inside_->elapsed});
  if (here)
    core_.take_grant();
  if (core_.chooser_->counters()[mab::event::finished] == 1)
    core_.family_.newcomers_on(lane_.here.index())
      .allow(core_.chooser_->next_newcomers(), core_.chooser_->last().pressure, core_.family_);
}

void adaptive_core::take_grant() noexcept {
  BASAL_ASSERT(grant_.runs == 0, "a grant is used up before the next one");
  grant_ = chooser_->next_grant();
  limit_ = std::chrono::duration_cast<std::chrono::nanoseconds>(grant_.limit);
}

void adaptive_core::learn_alone(const stopwatch::reading& inside) noexcept {
  grant_ = {};
  settle();
  own_chooser().granted().finish(
    {.cost = inside.elapsed, .function_time = inside.busy, .elapsed = inside.elapsed});
}

void adaptive_core::settle() noexcept {
  if (unlearned_runs_ > 0)
    chooser_->finish_granted(std::exchange(unlearned_runs_, 0),
                             std::exchange(unlearned_, std::chrono::nanoseconds{0}));
}

std::string adaptive_core::explain() {
  settle();
  if (!is_new_ && (!chooser_ || chooser_->last().why == mab::reason::none))
    return family_.name() + ": inline, because that was best for the new actor before this one\n";
  return mab::explain(own_chooser());
}

} // namespace basal::actors::detail
