#include <basal/actors/options.hpp>

#include <basal/executors/config.hpp>
#include <basal/executors/stack_pool.hpp>
#include <basal/posse/config.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/timespan.hpp>

#include <limits>
#include <stdexcept>
#include <string>

namespace basal::actors {

namespace {

// More is a slip of the keyboard; the address space would hold only a few.
constexpr std::size_t max_stack_bytes = std::size_t{1} << 30;

template <class T>
T checked(const caf::actor_system_config& cfg, const char* name, T fallback, T least, T most,
          const char* unit) {
  const auto value = caf::get_or(cfg, name, fallback);
  if (value < least || value > most)
    throw std::invalid_argument(std::string{name} + " is " + caf::deep_to_string(value)
                                + ", must be from " + caf::deep_to_string(least) + " to "
                                + caf::deep_to_string(most) + unit);
  return value;
}

} // namespace

scheduler_options read_options(const caf::actor_system_config& cfg) {
  using executors::pool_config;
  using posse::runtime_config;
  const runtime_config defaults;
  const std::size_t one = 1;
  const auto most = pool_config::max_executors;
  // CAF reads max-threads, too, but has no way to say "not set".
  const auto threads
    = checked(cfg, "scheduler.max-threads", executors::usable_cpus(), one, most, " threads");
  scheduler_options result{};
  result.message_executors
    = checked(cfg, "basal.message-executors", threads, one, most, " executors");
  result.compute_executors
    = checked(cfg, "basal.compute-executors", defaults.compute_executors, one, most, " executors");
  result.quantum
    = checked<caf::timespan>(cfg, "basal.quantum", defaults.quantum, runtime_config::min_quantum,
                             runtime_config::max_quantum, "");
  result.stack_bytes = checked(cfg, "basal.stack-bytes", defaults.stack_bytes,
                               executors::stack_pool::min_stack_bytes, max_stack_bytes, " bytes");
  result.max_throughput
    = checked(cfg, "scheduler.max-throughput", scheduler_options::default_max_throughput, one,
              std::numeric_limits<std::size_t>::max(), " messages");
  result.knobs = read_knob_options(cfg);
  return result;
}

} // namespace basal::actors
