#include <basal/actors/overruns.hpp>

#include <basal/actors/log.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/report.hpp>

#include <caf/local_actor.hpp>
#include <caf/resumable.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

namespace basal::actors {

namespace {

constinit executors::report_kind reports{executors::report_level::debug, "basal.actors",
                                         "handlers that kept their executor"};

void log(std::string_view name, std::chrono::microseconds ran) noexcept {
  try {
    if (logs(log_module::actors, log_level::debug))
      reports("a handler of " + std::string{name} + " kept its executor for "
              + std::to_string(ran.count())
              + " us without a fork or poll(); what waited behind it waited as long");
  } catch (const std::bad_alloc&) {
    // a line less
  }
}

} // namespace

void overrun_log::add(caf::resumable* job, std::size_t executor, std::uint64_t ticks,
                      std::uint64_t quantum_ticks) noexcept {
  BASAL_ASSERT(ticks > quantum_ticks, "an overrun is longer than a quantum");
  const auto* actor = dynamic_cast<caf::local_actor*>(job);
  const std::string_view name = actor != nullptr ? actor->name() : "(no actor)";
  const auto ran = executors::tick_clock::to_duration(ticks);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(ran);
  log(name, us);
  records_.change(name, [=](overrun_stats& record) {
    if (record.quanta_on.size() <= executor)
      record.quanta_on.resize(executor + 1);
    ++record.overruns;
    record.quanta += ticks / quantum_ticks;
    record.quanta_on[executor] += ticks / quantum_ticks;
    record.longest_us = std::max(record.longest_us, static_cast<std::uint64_t>(us.count()));
  });
}

} // namespace basal::actors
