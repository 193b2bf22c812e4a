#include <basal/actors/detail/adaptive_core.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/demangled.hpp>
#include <basal/executors/detail/tick_clock.hpp>

namespace basal::actors::detail {

namespace {

using executors::stopwatch;
using executors::tick_clock;

// From here on the CPU clock's 0.4 us do not show.
constexpr double worth_the_cpu_clock_us = 50;

} // namespace

adaptive_core::adaptive_core(caf::actor_system& system, mab::function_key key,
                             const std::string& default_name, const adaptive_actor_config& config)
  : host_(chooser_host::of(system)),
    hint_(config.hint),
    chooser_(host_->family_of(config.name.empty() ? key
                                                  : mab::function_key::combine(
                                                    key, mab::function_key::from_name(config.name)),
                              config.name.empty() ? default_name : config.name, config.knobs)) {
}

stopwatch::precision adaptive_core::precision() const noexcept {
  // 0: unknown.
  const auto us = chooser_.effective_ema_us();
  return us > 0 && us < worth_the_cpu_clock_us ? stopwatch::precision::ticks
                                               : stopwatch::precision::cpu_clock;
}

adaptive_core::turn::turn(adaptive_core& core, chooser_host::lane& lane,
                          mab::compute_hint hint) noexcept
  : core_(core),
    start_(tick_clock::now()),
    precision_(core.precision()),
    decision_(core.chooser_.choose(core.host_->arrive(lane, start_), lane.random, hint)) {
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
}

void adaptive_core::take_grant() noexcept {
  BASAL_ASSERT(grant_.runs == 0, "a grant is used up before the next one");
  grant_ = chooser_.next_grant();
  limit_ = std::chrono::duration_cast<std::chrono::nanoseconds>(grant_.limit);
}

void adaptive_core::learn_alone(const stopwatch::reading& inside) noexcept {
  grant_ = {};
  settle();
  chooser_.granted().finish(
    {.cost = inside.elapsed, .function_time = inside.busy, .elapsed = inside.elapsed});
}

void adaptive_core::settle() noexcept {
  chooser_.finish_granted(std::exchange(unlearned_runs_, 0),
                          std::exchange(unlearned_, std::chrono::nanoseconds{0}));
}

std::string readable_name(const std::string& of,
                          std::initializer_list<const std::type_info*> types) {
  auto result = of;
  const char* separator = "/";
  for (const auto* type : types) {
    result += separator;
    result += basal::detail::demangled(type->name());
    separator = ", ";
  }
  return result;
}

} // namespace basal::actors::detail
